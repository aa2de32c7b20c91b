/** The generated messages of log.proto, with 64-bit fields as plain numbers. */

import "./no-long.ts";
import { tailrace } from "./gen/log.js";

export const {
  LogBatch,
  LogBlock,
  LogEvent,
  Source,
  AgentHello,
  AgentStatus,
  Watermark,
  DocAppends,
  DocBatch,
  DocOperation,
  DocResult,
  Compression,
} = tailrace;
export type { tailrace } from "./gen/log.js";
