/** All outputs. */

import { PluginSet } from "../plugin-set.ts";
import { csvOutput } from "./csv.ts";
import { elasticsearchOutput } from "./elasticsearch.ts";
import { emailOutput } from "./email.ts";
import { fileOutput } from "./file.ts";
import { httpOutput } from "./http.ts";
import { natsOutput } from "./nats.ts";
import { nullOutput } from "./null.ts";
import type { OutputDefinition } from "./output.ts";
import { pipelineOutput } from "./pipeline.ts";
import { rabbitmqOutput } from "./rabbitmq.ts";
import { redisOutput } from "./redis.ts";
import { stdoutOutput } from "./stdout.ts";
import { tcpOutput } from "./tcp.ts";
import { udpOutput } from "./udp.ts";

export const outputs = new PluginSet<OutputDefinition>("output", [
  csvOutput,
  emailOutput,
  httpOutput,
  natsOutput,
  pipelineOutput,
  rabbitmqOutput,
  redisOutput,
  tcpOutput,
  udpOutput,
  elasticsearchOutput,
  fileOutput,
  nullOutput,
  stdoutOutput,
]);
