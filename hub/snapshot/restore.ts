/**
 * Restores a snapshot into a data folder. The log is rebuilt from the messages that no shard has, under a new
 * incarnation: the positions that shards and cursors remember lie before it, and agents resend what they still have.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { StreamConfig } from "@nats-io/jetstream";
import { readManifest } from "#hub/engine/commit/manifest.ts";
import { LOG_BUCKET, RESTORED_KEY } from "#hub/journal/log-opening.ts";
import { type Incarnation, Incarnations, RESTORED_IDENTITY } from "#hub/journal/streams/log-history.ts";
import type { ArchivedMessage, StreamArchive } from "#hub/journal/streams/stream-archive.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFully } from "#proto/kit/files/files.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import type { BlobStore } from "./blob-store.ts";
import {
  decodeRecords,
  readPiece,
  type Snapshot,
  type SnapshotFile,
  type SnapshotStream,
} from "./contents.ts";

/** Marks a folder that is being restored; a hub refuses to start on it. */
const UNFINISHED_FILE = "restore-unfinished";

/** Gap to the next incarnation, above those that the lost hub may have begun after the snapshot. */
const INCARNATIONS_APART = 1_000;
const LOG_KEY = `$KV.${LOG_BUCKET}.`;

export interface RestoreOptions {
  readonly snapshot: Snapshot;
  readonly store: BlobStore;
  /** The data folder, absolute. */
  readonly folder: string;
  readonly progress: (part: string) => void;
}

/** Throws data_locked if the folder already holds a hub's data. */
export function checkEmpty(folder: string): void {
  const there = existsSync(folder) ? readdirSync(folder) : [];
  if (there.includes(UNFINISHED_FILE) || !there.some((name) => name === "engine" || name === "nats")) return;
  throw new AppError(
    "data_locked",
    `${folder} already holds data; restore into an empty folder (--path.data DIR)`,
  );
}

/** Writes all files; the folder is marked as unfinished until `finishRestore`. */
export async function restoreFiles({ snapshot, store, folder, progress }: RestoreOptions): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  writeFileSync(join(folder, UNFINISHED_FILE), snapshot.name);
  for (const name of ["engine", "nats"]) rmSync(join(folder, name), { recursive: true, force: true });
  for (const file of snapshot.files) {
    await writePiece(store, file, join(folder, file.path));
    progress(`file ${file.path}: ${file.sizeBytes} bytes`);
  }
}

/** Recreates all streams. The shards' files must already be restored. */
export async function restoreStreams(
  { snapshot, store, folder, progress }: RestoreOptions,
  archive: StreamArchive,
): Promise<void> {
  const lives = await readLives(store, snapshot);
  const doc = lives.get(DOC_STREAM) ?? new Incarnations();
  for (const stream of snapshot.streams) {
    const messages = decodeRecords(readPiece(store, stream));
    let kept: AsyncIterable<Omit<ArchivedMessage, "sequence">> = messages;
    if (stream.name === `KV_${LOG_BUCKET}`) kept = renewedLog(messages, lives);
    else if (stream.name === DOC_STREAM) kept = missingInShards(messages, join(folder, "engine"), doc);
    await archive.write(stream.config as StreamConfig, kept);
    progress(`stream ${stream.name}: ${stream.messages} messages`);
  }
}

/** Throws data_corrupt if a restore into `folder` was interrupted. */
export function checkRestored(folder: string): void {
  if (!existsSync(join(folder, UNFINISHED_FILE))) return;
  throw new AppError(
    "data_corrupt",
    `${folder} is from a restore that was interrupted; run tailrace-hub snapshot restore again`,
  );
}

/** Marks the restore as complete: a hub may start on the folder. */
export function finishRestore(folder: string): void {
  rmSync(join(folder, UNFINISHED_FILE));
}

async function writePiece(store: BlobStore, file: SnapshotFile, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
  const fd = openSync(path, "w", file.mode);
  try {
    for await (const chunk of readPiece(store, file)) writeFully(fd, chunk);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns the incarnations that the hub knew at the time of the snapshot, by stream. */
async function readLives(store: BlobStore, { streams }: Snapshot): Promise<Map<string, Incarnations>> {
  const lives = new Map<string, Incarnations>();
  const log: SnapshotStream | undefined = streams.find(({ name }) => name === `KV_${LOG_BUCKET}`);
  if (log === undefined) return lives;
  for await (const { subject, data } of decodeRecords(readPiece(store, log))) {
    const stream = subject.slice(LOG_KEY.length);
    if (stream !== RAW_STREAM && stream !== DOC_STREAM) continue;
    const { lives: known } = JSON.parse(Buffer.from(data).toString()) as { lives: Incarnation[] };
    lives.set(stream, new Incarnations(known));
  }
  return lives;
}

/**
 * Replaces the incarnations in the log's bucket. At its start the hub finds both streams recreated, after these
 * incarnations.
 */
async function* renewedLog(
  messages: AsyncIterable<ArchivedMessage>,
  lives: ReadonlyMap<string, Incarnations>,
): AsyncGenerator<Omit<ArchivedMessage, "sequence">> {
  const own = new Set([`${LOG_KEY}${RESTORED_KEY}`, ...[...lives.keys()].map((stream) => LOG_KEY + stream)]);
  for await (const message of messages) if (!own.has(message.subject)) yield message;
  for (const [stream, { current }] of lives) {
    const incarnation = current.incarnation + INCARNATIONS_APART - 1;
    const renewed = { identity: RESTORED_IDENTITY, lives: [{ incarnation, firstSequence: 1 }] };
    yield { subject: LOG_KEY + stream, headers: [], data: Buffer.from(JSON.stringify(renewed)) };
    if (stream !== RAW_STREAM) continue;
    const restored = Buffer.from(JSON.stringify(incarnation + 1));
    yield { subject: `${LOG_KEY}${RESTORED_KEY}`, headers: [], data: restored };
  }
}

/** Drops messages that the shards' files already hold: a document put over HTTP must not be put a second time. */
async function* missingInShards(
  messages: AsyncIterable<ArchivedMessage>,
  engine: string,
  lives: Incarnations,
): AsyncGenerator<ArchivedMessage> {
  const positions = new Map<string, Position>();
  for await (const message of messages) {
    const [, , uuid = "", shard = ""] = message.subject.split(".");
    const folder = join(engine, uuid, shard);
    const position = positions.get(folder) ?? committed(folder);
    positions.set(folder, position);
    if (comparePositions(lives.positionOf(message.sequence), position) > 0) yield message;
  }
}

function committed(folder: string): Position {
  return (existsSync(folder) ? readManifest(folder)?.manifest.position : undefined) ?? START;
}
