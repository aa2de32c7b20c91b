/**
 * Format of a snapshot. A snapshot is a description (`snapshots/<name>.json`) and the chunks it names by their
 * SHA-256 (`blobs/<first two digits>/<digest>`); a later snapshot stores only chunks that no earlier one has.
 * Messages of a stream are encoded as a line of JSON each (subject, sequence, headers, length), followed by their
 * data. Grammar: README.md.
 */

import { createHash } from "node:crypto";
import type { ArchivedMessage } from "#hub/journal/streams/stream-archive.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { BlobStore } from "./blob-store.ts";

/** Format version; a higher one is rejected. */
export const SNAPSHOT_VERSION = 1;
/** Size of a chunk: far below the limit of any store, and small enough to hold in memory. */
const CHUNK_BYTES = 8 * 1_024 ** 2;
const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** A byte sequence in the store. */
export interface Piece {
  readonly sizeBytes: number;
  /** SHA-256 of each chunk, hexadecimal, in order. */
  readonly chunks: readonly string[];
}

export interface SnapshotFile extends Piece {
  /** Relative to the data folder, with slashes. */
  readonly path: string;
  /** Permissions, as stat gives them. */
  readonly mode: number;
}

export interface SnapshotStream extends Piece {
  readonly name: string;
  /** JetStream's configuration of the stream. */
  readonly config: unknown;
  readonly messages: number;
}

export interface Snapshot {
  readonly version: number;
  readonly name: string;
  /** ISO 8601. */
  readonly created: string;
  /** Version of the program that made it. */
  readonly product: string;
  readonly files: readonly SnapshotFile[];
  readonly streams: readonly SnapshotStream[];
}

/** Counts the stored bytes. */
export interface Tally {
  bytes: number;
  /** Bytes that no earlier snapshot had. */
  newBytes: number;
}

/** Stores bytes as chunks. */
export async function storePiece(
  store: BlobStore,
  bytes: AsyncIterable<Uint8Array>,
  tally: Tally,
): Promise<Piece> {
  const chunks: string[] = [];
  let sizeBytes = 0;
  for await (const chunk of inChunks(bytes)) {
    const digest = sha256(chunk);
    const key = blobKey(digest);
    if (!(await store.has(key))) {
      await store.put(key, chunk);
      tally.newBytes += chunk.length;
    }
    sizeBytes += chunk.length;
    tally.bytes += chunk.length;
    chunks.push(digest);
  }
  return { sizeBytes, chunks };
}

/** Yields the bytes of a piece. Throws data_corrupt if a chunk doesn't match its digest. */
export async function* readPiece(store: BlobStore, piece: Piece): AsyncGenerator<Uint8Array> {
  for (const digest of piece.chunks) {
    const chunk = await store.get(blobKey(digest));
    if (sha256(chunk) !== digest)
      throw new AppError(
        "data_corrupt",
        `${blobKey(digest)} in ${store.address} is damaged; take another snapshot`,
      );
    yield chunk;
  }
}

/** Returns the key of a snapshot's description. Throws usage_invalid for an invalid name. */
export function descriptionKey(name: string): string {
  if (!NAME.test(name))
    throw new AppError(
      "usage_invalid",
      `"${name}" is not a valid name of a snapshot; use at most 100 lower-case letters, digits, ".", "_" and "-"`,
    );
  return `snapshots/${name}.json`;
}

/** Returns the names of all snapshots, sorted; the oldest first if names are times. */
export async function snapshotNames(store: BlobStore): Promise<string[]> {
  const keys = await store.list("snapshots/");
  return keys.map((key) => /^snapshots\/(.*)\.json$/.exec(key)?.[1]).filter((name) => name !== undefined);
}

/** Throws not_found, or data_corrupt for an unknown version. */
export async function readSnapshot(store: BlobStore, name: string): Promise<Snapshot> {
  const key = descriptionKey(name);
  const snapshot = JSON.parse(Buffer.from(await store.get(key)).toString()) as Snapshot;
  if (snapshot.version !== SNAPSHOT_VERSION)
    throw new AppError(
      "data_corrupt",
      `${key} has format version ${snapshot.version}, this program supports ${SNAPSHOT_VERSION}`,
    );
  return snapshot;
}

/** Cuts a stream of bytes into chunks of equal length; the last may be shorter. */
async function* inChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    for (let at = 0; at < part.length; ) {
      const taken = part.subarray(at, at + CHUNK_BYTES - length);
      parts.push(taken);
      length += taken.length;
      at += taken.length;
      if (length < CHUNK_BYTES) continue;
      yield Buffer.concat(parts);
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(parts);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function blobKey(digest: string): string {
  return `blobs/${digest.slice(0, 2)}/${digest}`;
}

interface RecordHead {
  readonly subject: string;
  readonly sequence: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: number;
}

const NEWLINE = 0x0a;

/** Counts messages. */
export interface Count {
  messages: number;
}

/** Encodes `messages`. */
export async function* encodeRecords(
  messages: AsyncIterable<ArchivedMessage>,
  count: Count,
): AsyncGenerator<Uint8Array> {
  for await (const { subject, sequence, headers, data } of messages) {
    const head: RecordHead = { subject, sequence, headers, bytes: data.length };
    count.messages++;
    yield Buffer.from(`${JSON.stringify(head)}\n`);
    yield data;
  }
}

/** Decodes messages. Throws data_corrupt if the bytes end too early. */
export async function* decodeRecords(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ArchivedMessage> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = rest.indexOf(NEWLINE, at); end >= 0; end = rest.indexOf(NEWLINE, at)) {
      const head = JSON.parse(rest.toString("utf8", at, end)) as RecordHead;
      const from = end + 1;
      if (rest.length < from + head.bytes) break;
      const { subject, sequence, headers } = head;
      yield { subject, sequence, headers, data: rest.subarray(from, from + head.bytes) };
      at = from + head.bytes;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0)
    throw new AppError("data_corrupt", "a stream of the snapshot ends in the middle of a message");
}
