/**
 * The kernel as TypeScript sees it: an instance over its memory, its functions with their types, the growing buffers
 * that both share. The engine needs it: without kernel.wasm, which `npm run build` makes, a hub doesn't start.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { lowercase } from "#hub/engine/analysis/token-filters/folding.ts";
import { wordBreakClasses } from "#hub/engine/analysis/tokenizers/word-break.ts";
import { copyBytes } from "#hub/engine/bytes/bytes.ts";
import { UNICODE_BYTES, UNICODE_LOWER, UNICODE_POINTS } from "#hub/engine/kernel/assembly/layout.ts";
import { AppError } from "#proto/kit/errors.ts";
import {
  BUFFER_AT,
  BUFFER_BYTES,
  BUFFER_CAPACITY,
  BUFFER_LENGTH,
  GROUP,
  SCRATCH_BYTES,
  SCRATCH_PACKED,
  SCRATCH_PLAIN,
  SCRATCH_UNICODE,
  SLACK_BYTES,
} from "./assembly/layout.ts";
import { KernelMemory, type WasmModule, webAssembly } from "./memory.ts";
import { isMadeOf } from "./source-hash.ts";

/** Code points of the first plane. */
const FIRST_PLANE = 0x1_0000;

const WASM = new URL("./kernel.wasm", import.meta.url);
const SOURCES = new URL("./assembly/", import.meta.url);

/** Most memory that all buffers of a thread take together. */
const LIMIT_BYTES = 2 ** 30;

/** Memory that the kernel of a thread at rest keeps. */
const KEPT_BYTES = 2 * 2 ** 20;

/** The first size of a growing buffer. */
const FIRST_BYTES = 1024;

/** Functions of the kernel; numbers named `…At` are addresses, see assembly/ for what each does. */
interface KernelFunctions extends SearchFunctions {
  init(scratchAt: number, seed: bigint, factor: bigint): void;
  initPool(poolAt: number, slots: number): void;
  addText(poolAt: number, fieldAt: number, doc: number, textAt: number, length: number): void;
  addToken(
    poolAt: number,
    fieldAt: number,
    doc: number,
    textAt: number,
    length: number,
    position: number,
  ): void;
  addKeyword(poolAt: number, fieldAt: number, doc: number, textAt: number, length: number): void;
  addNumber(fieldAt: number, doc: number, value: number): void;
  startText(fieldAt: number, doc: number): number;
  endText(fieldAt: number, doc: number, tokens: number, next: number): void;
  padNorms(fieldAt: number, docCount: number): void;
  groupTerms(poolAt: number, fieldCount: number, startsAt: number, idsAt: number): void;
  sortTerms(poolAt: number, idsAt: number, count: number, ordinalsAt: number, workspaceAt: number): void;
  toOrdinals(fieldAt: number, ordinalsAt: number): void;
  gatherWords(fieldAt: number, sealAt: number, terms: number): void;
  gatherValues(fieldAt: number, sealAt: number, terms: number): void;
  gatherNothing(sealAt: number, terms: number): void;
  addTerms(poolAt: number, sealAt: number, idsAt: number, from: number, count: number): number;
  mergeTerms(walksAt: number, count: number, sealAt: number, budget: number): number;
  hashName(nameAt: number, length: number): number;
  addPoint(fieldAt: number, doc: number, latitude: number, longitude: number): void;
  writeDocuments(poolAt: number, rootAt: number, runsAt: number, count: number, doc: number): number;
  resumeDocument(poolAt: number, doc: number, from: number): number;
  crc32c(bytesAt: number, length: number, crc: number): number;
  shapesOf(extentsAt: number, count: number, outAt: number): void;
  addStored(storedAt: number, inputAt: number, extentsAt: number, count: number): void;
  closeStored(storedAt: number): void;
  writeColumnar(stateAt: number, count: number): void;
  checkColumnar(stateAt: number, count: number): number;
  packLz4(count: number): number;
  unpackLz4(count: number, size: number): number;
  packGroup(valuesAt: number, bits: number, outAt: number): number;
  unpackGroup(packedAt: number, bits: number, outAt: number): void;
  unpackDocs(packedAt: number, bits: number, before: number, outAt: number): void;
}

/** What hashes and shapes begin with. Kernels of one seed give documents the same shapes. */
export type KernelSeed = readonly [seed: bigint, factor: bigint];

let ofThread: Kernel | undefined;
let seedOfThread: KernelSeed | undefined;
/** The thread's last compiled kernel: another instance of the same file needs no compiler. */
let compiled: { readonly href: string; readonly module: WasmModule } | undefined;

/** Gives the kernel of this thread, which isn't loaded yet, the seed of another thread's. */
export function seedThreadKernel(seed: KernelSeed): void {
  seedOfThread = seed;
}

/**
 * Returns the kernel of this thread. One for all buffers of a thread: a memory reserves four gigabytes of addresses, and
 * the blocks that one buffer gives back serve the next. Throws unavailable, see Kernel.load.
 */
export function threadKernel(): Kernel {
  ofThread ??= Kernel.load(LIMIT_BYTES, WASM, seedOfThread);
  return ofThread;
}

/**
 * Gives up the kernel of this thread if its memory has grown, which can't shrink. Buffers that still use it keep it
 * until they are released; the next caller gets a new one with the same seed.
 */
export function restThreadKernel(): void {
  if (threadKernelBytes() <= KEPT_BYTES) return;
  seedOfThread = ofThread?.seed;
  ofThread = undefined;
}

/** Returns the bytes of the memory of this thread's kernel; 0 while there is none. */
export function threadKernelBytes(): number {
  return ofThread?.memory.totalBytes ?? 0;
}

/** One instance with its scratch. Belongs to one thread. */
export class Kernel {
  readonly memory: KernelMemory;
  readonly functions: KernelFunctions;
  /** Address of this instance's scratch structure. */
  readonly scratchAt: number;
  readonly seed: KernelSeed;

  /** Where a group is unpacked. A view of shared memory stays good when that grows. */
  readonly #unpacked: Int32Array;

  private constructor(module: WasmModule, limitBytes: number, seed: KernelSeed) {
    this.memory = new KernelMemory(limitBytes);
    const instance = new webAssembly.Instance(module, {
      env: { memory: this.memory.memory },
      host: { grow: (bufferAt: number, extra: number) => this.#grow(bufferAt >>> 0, extra >>> 0) },
    });
    this.functions = instance.exports as unknown as KernelFunctions;
    this.seed = seed;
    this.scratchAt = this.allocateZeroed(SCRATCH_BYTES);
    this.#unpacked = new Int32Array(this.memory.memory.buffer, this.memory.allocate(4 * GROUP), GROUP);
    this.functions.init(this.scratchAt, ...seed);
  }

  /** Returns a new instance. Throws unavailable where the kernel isn't built, or was built of other sources. */
  static load(limitBytes = LIMIT_BYTES, wasm = WASM, seed = randomSeed()): Kernel {
    if (!existsSync(wasm)) {
      const reason = `the engine's kernel is missing (${fileURLToPath(wasm)}); run npm run build, or install the hub again`;
      throw new AppError("unavailable", reason);
    }
    if (compiled?.href !== wasm.href) {
      const module = new webAssembly.Module(readFileSync(wasm));
      refuseStale(module);
      compiled = { href: wasm.href, module };
    }
    return new Kernel(compiled.module, limitBytes, seed);
  }

  /** Returns the address of a structure of `sizeBytes` zeros. */
  allocateZeroed(sizeBytes: number): number {
    const address = this.memory.allocate(sizeBytes);
    this.memory.bytes.fill(0, address, address + sizeBytes);
    return address;
  }

  /** From now on texts beyond ASCII are the kernel's too. Takes some milliseconds the first time. */
  learnUnicode(): void {
    const at = this.scratchAt + SCRATCH_UNICODE;
    if (this.word(at) === 0) this.setWord(at, storeUnicodeTable(this.memory));
  }

  /** Bytes in use of the growing buffer at `bufferAt`; valid until the kernel or this object is called again. */
  view(bufferAt: number): Uint8Array {
    const at = this.word(bufferAt + BUFFER_AT);
    return this.memory.bytes.subarray(at, at + this.word(bufferAt + BUFFER_LENGTH));
  }

  /** Bytes reserved by the growing buffer at `bufferAt`. */
  reservedBytes(bufferAt: number): number {
    const capacity = this.word(bufferAt + BUFFER_CAPACITY);
    return capacity === 0 ? 0 : capacity + SLACK_BYTES;
  }

  /** Sets how many bytes of a growing buffer are in use. */
  setLength(bufferAt: number, length: number): void {
    this.setWord(bufferAt + BUFFER_LENGTH, length);
  }

  /** Address of the growing buffer at `bufferAt`. */
  start(bufferAt: number): number {
    return this.word(bufferAt + BUFFER_AT);
  }

  /** Returns the address of the growing buffer at `bufferAt` emptied and with a capacity of at least `length` bytes. */
  reserve(bufferAt: number, length: number): number {
    this.setLength(bufferAt, 0);
    if (length > this.word(bufferAt + BUFFER_CAPACITY)) this.#grow(bufferAt, length);
    return this.start(bufferAt);
  }

  /** Writes `bytes[from..to)` over the growing buffer at `bufferAt`; returns their address. */
  place(bufferAt: number, bytes: Uint8Array, from = 0, to = bytes.length): number {
    const at = this.reserve(bufferAt, to - from);
    copyBytes(bytes, from, to, this.memory.bytes, at);
    return at;
  }

  /** Appends `bytes` to the growing buffer at `bufferAt`. */
  append(bufferAt: number, bytes: Uint8Array): void {
    const used = this.word(bufferAt + BUFFER_LENGTH);
    if (used + bytes.length > this.word(bufferAt + BUFFER_CAPACITY)) this.#grow(bufferAt, bytes.length);
    copyBytes(bytes, 0, bytes.length, this.memory.bytes, this.start(bufferAt) + used);
    this.setLength(bufferAt, used + bytes.length);
  }

  /** Gives back the block of a growing buffer and makes it empty. */
  free(bufferAt: number): void {
    const reserved = this.reservedBytes(bufferAt);
    if (reserved > 0) this.memory.release(this.word(bufferAt + BUFFER_AT), reserved);
    this.memory.bytes.fill(0, bufferAt, bufferAt + BUFFER_BYTES);
  }

  /** CRC-32C of bytes[from..to), continuing from `crc`, as an unsigned number. */
  crc32c(bytes: Uint8Array, from: number, to: number, crc: number): number {
    const isHere = bytes.buffer === this.memory.memory.buffer;
    const bytesAt = isHere
      ? bytes.byteOffset + from
      : this.place(this.scratchAt + SCRATCH_PLAIN, bytes, from, to);
    return this.functions.crc32c(bytesAt, to - from, crc) >>> 0;
  }

  /** An LZ4 block of `bytes`; valid until the kernel is called again. */
  packLz4(bytes: Uint8Array): Uint8Array {
    this.place(this.scratchAt + SCRATCH_PLAIN, bytes);
    return this.#packed(this.functions.packLz4(bytes.length) >>> 0);
  }

  /** Writes the `size` bytes of an LZ4 block to `out` from `at` on; false if it is damaged. */
  unpackLz4To(bytes: Uint8Array, size: number, out: Uint8Array, at: number): boolean {
    this.place(this.scratchAt + SCRATCH_PLAIN, bytes);
    if (this.functions.unpackLz4(bytes.length, size) === 0) return false;
    copyBytes(this.#packed(size), 0, size, out, at);
    return true;
  }

  /** Writes 128 numbers of `bits` bits (0..32), packed at bytes[from], to `out` from `outAt`. */
  unpackGroup(bytes: Uint8Array, from: number, bits: number, out: Int32Array, outAt: number): void {
    const packedAt = this.place(this.scratchAt + SCRATCH_PLAIN, bytes, from, from + 16 * bits);
    this.functions.unpackGroup(packedAt, bits, this.#unpacked.byteOffset);
    out.set(this.#unpacked, outAt);
  }

  /** Like `unpackGroup`, of gaps less one: writes numbers that ascend from `before` to `out` from 0. */
  unpackDocs(bytes: Uint8Array, from: number, bits: number, before: number, out: Int32Array): void {
    const packedAt = this.place(this.scratchAt + SCRATCH_PLAIN, bytes, from, from + 16 * bits);
    this.functions.unpackDocs(packedAt, bits, before, this.#unpacked.byteOffset);
    out.set(this.#unpacked);
  }

  word(address: number): number {
    return this.memory.words[address >>> 2]!;
  }

  setWord(address: number, value: number): void {
    this.memory.words[address >>> 2] = value;
  }

  /** Number of 64 bits at an address. */
  float(address: number): number {
    return new Float64Array(this.memory.memory.buffer, address, 1)[0]!;
  }

  #packed(length: number): Uint8Array {
    const at = this.word(this.scratchAt + SCRATCH_PACKED + BUFFER_AT);
    return this.memory.bytes.subarray(at, at + length);
  }

  /** Moves a buffer to a block with capacity for `extra` more bytes, at least twice the size. */
  #grow(bufferAt: number, extra: number): void {
    const used = this.word(bufferAt + BUFFER_LENGTH);
    const capacity = this.word(bufferAt + BUFFER_CAPACITY);
    const wanted = Math.max(used + extra, 2 * capacity, FIRST_BYTES) + SLACK_BYTES;
    if (wanted > 2 ** 31) throw new AppError("memory_limit", "a buffer of the engine would pass 2 GiB");
    const reserved = this.memory.blockBytes(wanted);
    const address = this.memory.allocate(reserved);
    const old = this.word(bufferAt + BUFFER_AT);
    if (used > 0) copyBytes(this.memory.bytes, old, old + used, this.memory.bytes, address);
    if (capacity > 0) this.memory.release(old, capacity + SLACK_BYTES);
    this.setWord(bufferAt + BUFFER_AT, address);
    this.setWord(bufferAt + BUFFER_CAPACITY, reserved - SLACK_BYTES);
  }
}

/** Nobody can choose terms or names that collide. */
function randomSeed(): KernelSeed {
  const random = randomBytes(16);
  return [random.readBigUInt64LE(0), random.readBigUInt64LE(8)];
}

/** Throws where kernel and TypeScript are of two versions: they would write unreadable segments. Packages hold no sources. */
function refuseStale(module: WasmModule): void {
  if (existsSync(SOURCES) && !isMadeOf(module, statSync(WASM).mtimeMs, SOURCES))
    throw new AppError("unavailable", "the kernel is older than its sources; run npm run build");
}

interface SearchFunctions {
  postingsSet(
    postings: number,
    length: number,
    docFreq: number,
    docCount: number,
    bits: number,
    room: number,
  ): number;
  unpackNumbers(data: number, count: number, bits: number, out: number): void;
  toFloats(numbers: number, count: number, base: number, step: number, out: number): void;
  toDecimals(numbers: number, count: number, base: number, step: number, out: number): void;
  matchBlocks(run: number, first: number, from: number, to: number, narrow: number, words: number): number;
  countBlocks(
    run: number,
    first: number,
    words: number,
    values: number,
    table: number,
    stride: number,
  ): number;
  sumBlocks(
    by: number,
    run: number,
    first: number,
    words: number,
    ordinals: number,
    slots: number,
    marks: number,
    room: number,
    sums: number,
  ): number;
  chooseBlocks(
    run: number,
    words: number,
    ordinals: number,
    slots: number,
    marks: number,
    docs: number,
    chosen: number,
  ): number;
  markSlots(slots: number, ordinals: number, marks: number): void;
  nearSet(first: number, second: number, distance: number, docCount: number, bits: number): number;
  scanTerms(
    blocks: number,
    length: number,
    terms: number,
    hasPositions: number,
    needle: number,
    needleLength: number,
    text: number,
    textCapacity: number,
    out: number,
  ): number;
}

/** Puts the table into a block of `memory`; returns its address. */
function storeUnicodeTable(memory: KernelMemory): number {
  const address = memory.allocate(UNICODE_BYTES);
  memory.bytes.set(wordBreakClasses(UNICODE_POINTS), address);
  const lower = new Uint16Array(memory.memory.buffer, address + UNICODE_LOWER, FIRST_PLANE);
  for (let point = 0; point < FIRST_PLANE; point++) {
    lower[point] = lowercase(String.fromCharCode(point)).charCodeAt(0);
  }
  return address;
}
