/** Copies the shards of another hub into a folder. */

import { mkdirSync, statfsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { syncFolder } from "#proto/kit/files/files.ts";
import {
  type CopiedFile,
  type CopyRequest,
  decodeAnswer,
  encodeRequest,
  type HeldCopy,
  type HeldShard,
  shardsSubject,
} from "./copy-messages.ts";

/** Files read at the same time. */
const STREAMS = 4;
/** Time to link all files of a large hub. */
const HOLD_MS = 60_000;
/** Interval of requests that keep a copy held: the other hub releases one that is idle for a minute. */
const TOUCH_MS = 20_000;
const READ_MS = 10_000;
/** Attempts of a request: NATS may be electing a leader or lose a connection. */
const TRIES = 5;
/** Free space that stays on the disk, bytes. */
const SPARE_BYTES = 64 * 1_024 ** 2;
const FOLDER_MODE = 0o750;
const FILE_MODE = 0o640;
/** Accepts files of shards and the committed positions, and nothing outside the folder. */
const KNOWN_PATH = /^(?:[\w-]+\/(?:\d+\/)?)?[\w-]+(?:\.[\w-]+)*$/;

export interface FetchOptions {
  readonly transport: HubTransport;
  /** Id of the hub that has the shards. */
  readonly node: string;
  /** Only these; all without it. */
  readonly shards?: readonly HeldShard[];
  /** Folder that must not exist. */
  readonly into: string;
  readonly signal: AbortSignal;
  /** Called after each file with the bytes so far and the total. */
  readonly progress: (bytes: number, total: number) => void;
}

/**
 * Resolves when the copy is durable. The other hub holds it for a minute longer: the log must keep what the copy lacks until
 * this hub has joined. Throws unavailable, timeout, disk_full, data_corrupt, cancelled; the caller removes what was written
 * before the failure.
 */
export async function fetchCopy(options: FetchOptions): Promise<HeldCopy> {
  const { shards } = options;
  const hold: CopyRequest = { operation: "hold", ...(shards !== undefined && { shards }) };
  const held = parse<HeldCopy>(await ask(options, hold, HOLD_MS, 1));
  try {
    mkdirSync(options.into, { recursive: true, mode: FOLDER_MODE });
    checkSpace(options.into, held.bytes);
    const files = await listFiles(options, held);
    await writeFiles(options, held, files);
    for (const folder of new Set(files.map(([path]) => dirname(join(options.into, path)))))
      syncFolder(folder);
    return held;
  } catch (error) {
    // Otherwise it is released when it is idle.
    await releaseCopy(options, held);
    throw error;
  }
}

/**
 * Makes the other hub hold a copy, and the log keep what it lacks, while `run` runs; then releases it. Throws what `run`
 * throws.
 */
export async function whileHeld<T>(
  options: Pick<FetchOptions, "transport" | "node" | "signal">,
  held: HeldCopy,
  run: () => Promise<T>,
): Promise<T> {
  const touch = (): void =>
    void ask(options, { operation: "list", copy: held.copy, from: held.files }, READ_MS, 1).catch(
      () => undefined,
    );
  const touching = setInterval(touch, TOUCH_MS).unref();
  try {
    return await run();
  } finally {
    clearInterval(touching);
    await releaseCopy(options, held);
  }
}

/** Makes the other hub release a copy, once the log needn't keep what the copy lacks. */
export async function releaseCopy(
  options: Pick<FetchOptions, "transport" | "node" | "signal">,
  { copy }: HeldCopy,
): Promise<void> {
  await ask(options, { operation: "release", copy }, READ_MS, 1).catch(() => undefined);
}

function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize - SPARE_BYTES;
  if (free >= bytes) return;
  throw new AppError(
    "disk_full",
    `copying the shards of another hub needs ${bytes} bytes below ${dirname(folder)}, of which ${Math.max(0, free)} are free: free some space, or stop this hub and remove its folder engine`,
  );
}

async function listFiles(options: FetchOptions, { copy, files: count }: HeldCopy): Promise<CopiedFile[]> {
  const files: CopiedFile[] = [];
  while (files.length < count) {
    const page = parse<CopiedFile[]>(await ask(options, { operation: "list", copy, from: files.length }));
    if (page.length === 0)
      throw new AppError("data_corrupt", `the copy lists ${files.length} of ${count} files`);
    files.push(...page);
  }
  const unknown = files.find(([path]) => !KNOWN_PATH.test(path));
  if (unknown !== undefined) throw new AppError("data_corrupt", `the copy has a file ${unknown[0]}`);
  return files;
}

async function writeFiles(
  options: FetchOptions,
  { copy, bytes: total }: HeldCopy,
  files: readonly CopiedFile[],
): Promise<void> {
  const numbered = files.entries();
  const failed = new AbortController();
  let written = 0;
  const stream = async (): Promise<void> => {
    for (const [file, [path, bytes]] of numbered) {
      if (failed.signal.aborted) return;
      await writeFile(options, { copy, file, path, bytes });
      written += bytes;
      options.progress(written, total);
    }
  };
  const streams = Array.from({ length: STREAMS }, () =>
    stream().catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  // All have ended before the folder may be removed.
  for (const result of await Promise.allSettled(streams))
    if (result.status === "rejected") throw result.reason;
}

interface WrittenFile {
  readonly copy: string;
  readonly file: number;
  readonly path: string;
  readonly bytes: number;
}

async function writeFile(options: FetchOptions, { copy, file, path, bytes }: WrittenFile): Promise<void> {
  const target = join(options.into, path);
  mkdirSync(dirname(target), { recursive: true, mode: FOLDER_MODE });
  const handle: FileHandle = await open(target, "wx", FILE_MODE);
  try {
    for (let offset = 0; offset < bytes; ) {
      const chunk = await ask(options, { operation: "read", copy, file, offset });
      if (chunk.length === 0)
        throw new AppError("data_corrupt", `${path} ends at ${offset} of ${bytes} bytes`);
      // Fewer bytes are written if the disk becomes full: the rest is read again.
      offset += (await handle.write(chunk, 0, chunk.length, offset)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function ask(
  { transport, node, signal }: Pick<FetchOptions, "transport" | "node" | "signal">,
  request: CopyRequest,
  timeoutMs = READ_MS,
  tries = TRIES,
): Promise<Uint8Array> {
  for (let left = tries; ; left--) {
    signal.throwIfAborted();
    try {
      const data = encodeRequest(request);
      // A copy that is held twice is released twice, the second time when it is idle.
      const options = { timeoutMs, signal, repeatable: request.operation !== "hold" };
      return decodeAnswer(await transport.request(shardsSubject(node), data, options));
    } catch (error) {
      if (left <= 1 || toAppError(error).code !== "timeout") throw error;
    }
  }
}

function parse<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes).toString()) as T;
}
