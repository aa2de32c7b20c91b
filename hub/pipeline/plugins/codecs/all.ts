/** All codecs, by name. */

import type { CodecDefinition } from "#hub/pipeline/plugins/codec.ts";
import { PluginSet } from "#hub/pipeline/plugins/plugin-set.ts";

export const codecs = new PluginSet<CodecDefinition>("codec", {
  avro: async () => (await import("./avro.ts")).avroCodec,
  cef: async () => (await import("./cef.ts")).cefCodec,
  cloudtrail: async () => (await import("./cloudtrail.ts")).cloudtrailCodec,
  collectd: async () => (await import("./collectd.ts")).collectdCodec,
  combined: async () => (await import("./access-log.ts")).combinedCodec,
  common: async () => (await import("./access-log.ts")).commonCodec,
  csv: async () => (await import("./csv.ts")).csvCodec,
  dots: async () => (await import("./dots.ts")).dotsCodec,
  edn: async () => (await import("./edn.ts")).ednCodec,
  edn_lines: async () => (await import("./edn.ts")).ednLinesCodec,
  es_bulk: async () => (await import("./es-bulk.ts")).esBulkCodec,
  fluent: async () => (await import("./fluent.ts")).fluentCodec,
  graphite: async () => (await import("./graphite.ts")).graphiteCodec,
  gzip_lines: async () => (await import("./gzip-lines.ts")).gzipLinesCodec,
  json: async () => (await import("./json.ts")).jsonCodec,
  json_lines: async () => (await import("./json.ts")).jsonLinesCodec,
  line: async () => (await import("./line.ts")).lineCodec,
  msgpack: async () => (await import("./msgpack.ts")).msgpackCodec,
  multiline: async () => (await import("./multiline.ts")).multilineCodec,
  netflow: async () => (await import("./netflow.ts")).netflowCodec,
  plain: async () => (await import("./plain.ts")).plainCodec,
  rubydebug: async () => (await import("./rubydebug.ts")).rubydebugCodec,
});
