/** All codecs. */

import { PluginSet } from "../plugin-set.ts";
import { combinedCodec, commonCodec } from "./access-log.ts";
import { cefCodec } from "./cef.ts";
import type { CodecDefinition } from "./codec.ts";
import { csvCodec } from "./csv.ts";
import { dotsCodec } from "./dots.ts";
import { esBulkCodec } from "./es-bulk.ts";
import { jsonCodec, jsonLinesCodec } from "./json.ts";
import { lineCodec } from "./line.ts";
import { msgpackCodec } from "./msgpack.ts";
import { multilineCodec } from "./multiline.ts";
import { plainCodec } from "./plain.ts";
import { rubydebugCodec } from "./rubydebug.ts";

export const codecs = new PluginSet<CodecDefinition>("codec", [
  cefCodec,
  combinedCodec,
  commonCodec,
  csvCodec,
  dotsCodec,
  esBulkCodec,
  jsonCodec,
  jsonLinesCodec,
  lineCodec,
  msgpackCodec,
  multilineCodec,
  plainCodec,
  rubydebugCodec,
]);
