/** All codecs. */

import { PluginSet } from "../plugin-set.ts";
import type { CodecDefinition } from "./codec.ts";
import { jsonCodec, jsonLinesCodec } from "./json.ts";
import { lineCodec } from "./line.ts";
import { plainCodec } from "./plain.ts";

export const codecs = new PluginSet<CodecDefinition>("codec", [
  jsonCodec,
  jsonLinesCodec,
  lineCodec,
  plainCodec,
]);
