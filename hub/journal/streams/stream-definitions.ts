/** Which streams the log has, and their limits. */

import { mkdirSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";

export interface StreamDefinition {
  readonly name: string;
  readonly subjects: readonly string[];
  /** Behaviour at the limit: `wait` rejects new messages, `drop-oldest` deletes old ones. */
  readonly whenFull: "wait" | "drop-oldest";
  /** Limit of the stream, bytes. */
  readonly maxBytes: number;
  /** true: an existing stream keeps its limit. */
  readonly keepLimit: boolean;
  readonly maxMessageBytes: number;
  /** Replicas in a cluster; an existing stream keeps more. */
  readonly replicas: number;
}

/** Default upper limit of RAW and of DOC each: minutes to hours of traffic; most of the disk is left to indices. */
const DEFAULT_MAX_BYTES = 10 * 1000 ** 3;

/** Default share of the free disk for RAW and DOC each. */
const FREE_SHARE = 0.2;

/** A smaller log couldn't hold a few batches in flight. */
const LEAST_BYTES = 16 * 1024 ** 2;

/** Dead letters are read by people; only the newest are kept. */
const DEAD_LETTER_BYTES = 256 * 1024 ** 2;

export interface StreamLimits {
  /** Limit of RAW and of DOC each, bytes; undefined: derived from the free disk. */
  readonly maxBytes: number | undefined;
  /** Folder of an embedded server; undefined: external server. */
  readonly dataDir: string | undefined;
  /** Largest message of the server, bytes. */
  readonly maxPayloadBytes: number;
  /** Replicas in a cluster. */
  readonly replicas: number;
}

/** Returns the definitions of the log's streams. */
export async function streamDefinitions(limits: StreamLimits): Promise<StreamDefinition[]> {
  const maxBytes = Math.max(LEAST_BYTES, limits.maxBytes ?? (await defaultMaxBytes(limits.dataDir)));
  const shared = { maxMessageBytes: limits.maxPayloadBytes, replicas: limits.replicas };
  const keepLimit = limits.maxBytes === undefined; // otherwise the limit would shrink as the disk fills
  return [
    { name: RAW_STREAM, subjects: ["raw.>"], whenFull: "wait", maxBytes, keepLimit, ...shared },
    { name: DOC_STREAM, subjects: ["doc.>"], whenFull: "wait", maxBytes, keepLimit, ...shared },
    {
      name: DEAD_LETTER_STREAM,
      subjects: ["dead.>"],
      whenFull: "drop-oldest", // a flood of bad events must not block the good ones
      maxBytes: DEAD_LETTER_BYTES,
      keepLimit: false,
      ...shared,
    },
  ];
}

async function defaultMaxBytes(dataDir: string | undefined): Promise<number> {
  if (dataDir === undefined) return DEFAULT_MAX_BYTES;
  mkdirSync(dataDir, { recursive: true });
  const { bavail, bsize } = await statfs(dataDir);
  return Math.min(DEFAULT_MAX_BYTES, Math.floor(bavail * bsize * FREE_SHARE));
}
