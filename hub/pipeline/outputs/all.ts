/** All outputs. */

import { PluginSet } from "../plugin-set.ts";
import { elasticsearchOutput } from "./elasticsearch.ts";
import { nullOutput } from "./null.ts";
import type { OutputDefinition } from "./output.ts";

export const outputs = new PluginSet<OutputDefinition>("output", [elasticsearchOutput, nullOutput]);
