/** All outputs. */

import { PluginSet } from "../plugin-set.ts";
import { elasticsearchOutput } from "./elasticsearch.ts";
import { fileOutput } from "./file.ts";
import { nullOutput } from "./null.ts";
import type { OutputDefinition } from "./output.ts";
import { stdoutOutput } from "./stdout.ts";

export const outputs = new PluginSet<OutputDefinition>("output", [
  elasticsearchOutput,
  fileOutput,
  nullOutput,
  stdoutOutput,
]);
