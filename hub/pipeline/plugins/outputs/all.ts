/** All outputs, by name. */

import type { OutputDefinition } from "#hub/pipeline/plugins/output.ts";
import { PluginSet } from "#hub/pipeline/plugins/plugin-set.ts";

export const outputs = new PluginSet<OutputDefinition>("output", {
  csv: async () => (await import("./csv.ts")).csvOutput,
  elasticsearch: async () => (await import("./elasticsearch.ts")).elasticsearchOutput,
  email: async () => (await import("./email.ts")).emailOutput,
  file: async () => (await import("./file.ts")).fileOutput,
  http: async () => (await import("./http.ts")).httpOutput,
  kafka: async () => (await import("./kafka.ts")).kafkaOutput,
  loki: async () => (await import("./loki.ts")).lokiOutput,
  nats: async () => (await import("./nats.ts")).natsOutput,
  null: async () => (await import("./null.ts")).nullOutput,
  opensearch: async () => (await import("./opensearch.ts")).opensearchOutput,
  otlp: async () => (await import("./otlp.ts")).otlpOutput,
  pipeline: async () => (await import("./pipeline.ts")).pipelineOutput,
  rabbitmq: async () => (await import("./rabbitmq.ts")).rabbitmqOutput,
  redis: async () => (await import("./redis.ts")).redisOutput,
  s3: async () => (await import("./s3.ts")).s3Output,
  splunk_hec: async () => (await import("./splunk-hec.ts")).splunkHecOutput,
  stdout: async () => (await import("./stdout.ts")).stdoutOutput,
  tcp: async () => (await import("./tcp.ts")).tcpOutput,
  udp: async () => (await import("./udp.ts")).udpOutput,
});
