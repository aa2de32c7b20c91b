/** All inputs. */

import { PluginSet } from "../plugin-set.ts";
import type { InputDefinition } from "./input.ts";
import { beatsInput, shipperInput } from "./shipper.ts";

export const inputs = new PluginSet<InputDefinition>("input", [beatsInput, shipperInput]);
