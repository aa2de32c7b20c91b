/**
 * Memory of large messages, which is freed or used again immediately. That memory is outside of the heap, whose objects are
 * few and long-lived. To find it, the garbage collector would scan the whole heap several times a second, which would cost
 * more than the work itself.
 *
 * The system gives new memory page by page as it is touched, and clears each page: for messages of megabytes that takes
 * longer than copying them. So a thread keeps a little of what it frees for its next messages.
 */

import { isMarkedAsUntransferable } from "node:worker_threads";

/** Smaller ones are left to the collector, which frees them with its young generation. */
const LARGE_BYTES = 32 * 1024;
/**
 * What a thread keeps at most, in bytes and in buffers: two request bodies of 5 MB, which two clients send alternately,
 * what each was copied from while it grew, and their answers.
 */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;
const MOST_KEPT = 16;
/** Memory that isn't used again within this time is freed, ms. */
const KEPT_MS = 2_000;
/** Memory of a size is used again for at least this share of it. */
const LEAST_SHARE = 1 / 4;

interface Kept {
  readonly memory: ArrayBuffer;
  readonly sinceMs: number;
}

/** The longest kept first. */
const kept: Kept[] = [];
let bytesKept = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * Frees bytes or numbers that are not read again; they and every view of their memory become empty. Bytes that
 * are a part of larger memory, or of memory shared by threads or by Node's small buffers, are kept.
 */
export function freeBytes(view: ArrayBufferView): void {
  ownMemory(view)?.transfer(0);
}

/** Bytes that this thread keeps for `largeBytes`. */
export function keptBytes(): number {
  return bytesKept;
}

/**
 * Returns at least so many bytes, of any content, whose memory is theirs alone. `recycleBytes` takes them back, so that the
 * next ones needn't be new.
 */
export function largeBytes(least: number): Buffer<ArrayBuffer> {
  return usedBytes(least) ?? newBytes(least);
}

/** Like `largeBytes`; the system gives this memory only where it is written to. */
export function newBytes(least: number): Buffer<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(rounded(least));
}

/** Like `largeBytes`, of memory that was used before, all of which the process holds; undefined where none is kept. */
export function usedBytes(least: number): Buffer<ArrayBuffer> | undefined {
  let index = -1;
  for (const [at, { memory }] of kept.entries()) {
    const size = memory.byteLength;
    if (size < least || size * LEAST_SHARE > least) continue;
    if (index < 0 || size < kept[index]!.memory.byteLength) index = at;
  }
  if (index < 0) return undefined;
  const [{ memory }] = kept.splice(index, 1) as [Kept];
  bytesKept -= memory.byteLength;
  return Buffer.from(memory);
}

/** Like `freeBytes`; the memory may be used again by `largeBytes` of this thread. */
export function recycleBytes(view: ArrayBufferView): void {
  // Moved, so that the views of before are empty.
  const memory = ownMemory(view)?.transfer();
  if (memory === undefined) return;
  if (memory.byteLength > MOST_KEPT_BYTES) return void memory.transfer(0);
  kept.push({ memory, sinceMs: performance.now() });
  bytesKept += memory.byteLength;
  while (bytesKept > MOST_KEPT_BYTES || kept.length > MOST_KEPT) freeOldest();
  timer ??= setTimeout(freeUnused, KEPT_MS).unref();
}

function freeUnused(): void {
  const beforeMs = performance.now() - KEPT_MS;
  while (kept.length > 0 && kept[0]!.sinceMs <= beforeMs) freeOldest();
  timer = kept.length === 0 ? undefined : setTimeout(freeUnused, KEPT_MS).unref();
}

function freeOldest(): void {
  const { memory } = kept.shift()!;
  bytesKept -= memory.byteLength;
  memory.transfer(0);
}

/** The memory of large bytes that have it to themselves. */
function ownMemory({ buffer, byteLength }: ArrayBufferView): ArrayBuffer | undefined {
  if (byteLength < LARGE_BYTES || byteLength !== buffer.byteLength) return undefined;
  // Node's small buffers are parts of memory that can't be moved.
  if (!(buffer instanceof ArrayBuffer) || isMarkedAsUntransferable(buffer)) return undefined;
  return buffer.detached ? undefined : buffer;
}

/** A size of which there are eight for each doubling, so that messages of about one size fit into each other's memory. */
function rounded(bytes: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, bytes))) - 3);
  return Math.ceil(bytes / step) * step;
}
