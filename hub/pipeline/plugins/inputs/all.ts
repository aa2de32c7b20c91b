/** All inputs, by name. */

import type { InputDefinition } from "#hub/pipeline/plugins/input.ts";
import { PluginSet } from "#hub/pipeline/plugins/plugin-set.ts";

export const inputs = new PluginSet<InputDefinition>("input", {
  shipper: async () => (await import("./agent.ts")).shipperInput,
  agent: async () => (await import("./agent.ts")).agentInput,
  beats: async () => (await import("./beats.ts")).beatsInput,
  dead_letter_queue: async () => (await import("./dead-letter-queue.ts")).deadLetterQueueInput,
  elastic_agent: async () => (await import("./beats.ts")).elasticAgentInput,
  file: async () => (await import("./file.ts")).fileInput,
  forward: async () => (await import("./forward.ts")).forwardInput,
  gelf: async () => (await import("./gelf.ts")).gelfInput,
  generator: async () => (await import("./generator.ts")).generatorInput,
  heartbeat: async () => (await import("./heartbeat.ts")).heartbeatInput,
  http: async () => (await import("./http.ts")).httpInput,
  http_poller: async () => (await import("./http-poller.ts")).httpPollerInput,
  intake: async () => (await import("./intake.ts")).intakeInput,
  jdbc: async () => (await import("./jdbc.ts")).jdbcInput,
  journald_remote: async () => (await import("./journald-remote.ts")).journaldRemoteInput,
  kafka: async () => (await import("./kafka.ts")).kafkaInput,
  loki: async () => (await import("./intake.ts")).lokiInput,
  nats: async () => (await import("./nats.ts")).natsInput,
  otlp: async () => (await import("./otlp.ts")).otlpInput,
  pipeline: async () => (await import("./pipeline.ts")).pipelineInput,
  rabbitmq: async () => (await import("./rabbitmq.ts")).rabbitmqInput,
  redis: async () => (await import("./redis.ts")).redisInput,
  relp: async () => (await import("./relp.ts")).relpInput,
  splunk_hec: async () => (await import("./intake.ts")).splunkHecInput,
  stdin: async () => (await import("./stdin.ts")).stdinInput,
  syslog: async () => (await import("./syslog.ts")).syslogInput,
  tcp: async () => (await import("./tcp.ts")).tcpInput,
  udp: async () => (await import("./udp.ts")).udpInput,
});
