/** All inputs. */

import { PluginSet } from "../plugin-set.ts";
import { agentInput, shipperInput } from "./agent.ts";
import { beatsInput } from "./beats.ts";
import { deadLetterQueueInput } from "./dead-letter-queue.ts";
import { fileInput } from "./file/file.ts";
import { generatorInput } from "./generator.ts";
import { heartbeatInput } from "./heartbeat.ts";
import { httpInput } from "./http.ts";
import { httpPollerInput } from "./http-poller.ts";
import type { InputDefinition } from "./input.ts";
import { jdbcInput } from "./jdbc/jdbc.ts";
import { otlpInput } from "./otlp.ts";
import { pipelineInput } from "./pipeline.ts";
import { rabbitmqInput } from "./rabbitmq.ts";
import { redisInput } from "./redis.ts";
import { stdinInput } from "./stdin.ts";
import { syslogInput } from "./syslog.ts";
import { tcpInput } from "./tcp.ts";
import { udpInput } from "./udp.ts";

export const inputs = new PluginSet<InputDefinition>("input", [
  deadLetterQueueInput,
  heartbeatInput,
  httpInput,
  pipelineInput,
  syslogInput,
  tcpInput,
  udpInput,
  agentInput,
  beatsInput,
  fileInput,
  generatorInput,
  shipperInput,
  httpPollerInput,
  jdbcInput,
  otlpInput,
  rabbitmqInput,
  redisInput,
  stdinInput,
]);
