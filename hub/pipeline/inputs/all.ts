/** All inputs. */

import { PluginSet } from "../plugin-set.ts";
import { agentInput, beatsInput, shipperInput } from "./agent.ts";
import { generatorInput } from "./generator.ts";
import type { InputDefinition } from "./input.ts";
import { stdinInput } from "./stdin.ts";

export const inputs = new PluginSet<InputDefinition>("input", [
  agentInput,
  beatsInput,
  generatorInput,
  shipperInput,
  stdinInput,
]);
