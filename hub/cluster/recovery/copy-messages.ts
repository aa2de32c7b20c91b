/**
 * Requests by which a hub copies the shards of another one, by links or core NATS: subject `hub.<id>.shards`. A request is JSON. An
 * answer begins with a byte: after 0, the requested bytes or JSON follow; after 1, `{"code", "error"}` follows.
 */

import { AppError, type ErrorCode, toAppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";

/**
 * `hold` begins a copy, of all shards unless some are named; its answer is a HeldCopy. `list` returns one page of its files
 * from the number `from` on, a CopiedFile each. `read` returns the bytes of the file with the number `file` from `offset`
 * on, at most CHUNK_BYTES. `release` ends it.
 */
export type CopyRequest =
  | { readonly operation: "hold"; readonly shards?: readonly HeldShard[] }
  | { readonly operation: "list"; readonly copy: string; readonly from: number }
  | { readonly operation: "read"; readonly copy: string; readonly file: number; readonly offset: number }
  | { readonly operation: "release"; readonly copy: string };

export interface HeldCopy {
  readonly copy: string;
  readonly files: number;
  readonly bytes: number;
  /** Position in the log that the files cover. */
  readonly position: Position;
}

/** A shard that a copy is made of. */
export interface HeldShard {
  readonly uuid: string;
  readonly shard: number;
}

/** Path below the folder of the shards, with slashes, and size in bytes. */
export type CopiedFile = readonly [path: string, bytes: number];

/** Far below NATS' limit for a message, which may be set down to 1 MiB. */
export const CHUNK_BYTES = 512 * 1_024;

const DONE = Buffer.from([0]);
const FAILED = Buffer.from([1]);

export function shardsSubject(node: string): string {
  return `hub.${node}.shards`;
}

export function encodeRequest(request: CopyRequest): Uint8Array {
  return Buffer.from(JSON.stringify(request));
}

export function decodeRequest(data: Uint8Array): CopyRequest {
  return JSON.parse(Buffer.from(data).toString()) as CopyRequest;
}

/** `value`: raw bytes, or a value that is written as JSON. */
export function encodeAnswer(value: unknown): Uint8Array {
  return Buffer.concat([DONE, value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value))]);
}

export function encodeFailure(error: unknown): Uint8Array {
  const { code, message } = toAppError(error);
  return Buffer.concat([FAILED, Buffer.from(JSON.stringify({ code, error: message }))]);
}

/** Returns the bytes of an answer. Throws what the other hub threw. */
export function decodeAnswer(answer: Uint8Array): Uint8Array {
  const body = answer.subarray(1);
  if (answer[0] === DONE[0]) return body;
  const { code, error } = JSON.parse(Buffer.from(body).toString()) as { code: ErrorCode; error: string };
  throw new AppError(code, error);
}
