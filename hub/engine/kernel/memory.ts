/**
 * The kernel's memory: one shared WebAssembly memory, allocated in blocks of powers of two that merge with their
 * neighbour when both are free (buddy system). Pages cost nothing before they are touched and are never released, so
 * blocks are reused before the memory grows.
 */

import { AppError } from "#proto/kit/errors.ts";

const PAGE_BYTES = 65_536;

/** All that 32 bits can address, as the kernel was compiled; only addresses are reserved by it. */
const MAXIMUM_PAGES = 65_536;

/** Pages at the start; not below what the kernel was compiled with. */
const INITIAL_PAGES = 16;

/** Smallest block: 2^8 bytes. */
const MIN_ORDER = 8;

/** Address 0 means none; the first blocks begin after it. */
const FIRST_ADDRESS = PAGE_BYTES;

/** A free piece is large from this fraction of the limit on: a full buffer fits into it. */
const LARGE_PIECES = 16;

/** Hands out blocks. Belongs to one thread. */
export class KernelMemory {
  readonly memory: WasmMemory = new webAssembly.Memory({
    initial: INITIAL_PAGES,
    maximum: MAXIMUM_PAGES,
    shared: true,
  });
  /** Bytes beyond which the memory doesn't grow. */
  readonly limitBytes: number;
  /** Free blocks by order: block n of it is of 2^n bytes. */
  readonly #free: Set<number>[] = Array.from({ length: 32 }, () => new Set<number>());
  #top = FIRST_ADDRESS;
  #usedBytes = 0;
  #bytes = new Uint8Array(this.memory.buffer);
  #words = new Uint32Array(this.memory.buffer);

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** All bytes; until the next `allocate`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** All bytes as words of 32 bits: the word at address a is number a / 4. Until the next `allocate`. */
  get words(): Uint32Array {
    return this.#words;
  }

  /** Bytes that the system may have given: they were touched, and are never given back. */
  get totalBytes(): number {
    return this.#bytes.length;
  }

  /** Bytes in blocks that are given out. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Bytes that are free in large pieces, after all blocks or between them: what is left for buffers to grow into. */
  get headroomBytes(): number {
    let total = this.limitBytes - this.#top;
    for (let order = orderOf(this.limitBytes / LARGE_PIECES); order < 32; order++) {
      total += this.#free[order]!.size * 2 ** order;
    }
    return total;
  }

  /** Returns the address of a block of at least `sizeBytes`, not zeroed. Throws memory_limit. */
  allocate(sizeBytes: number): number {
    const order = orderOf(sizeBytes);
    let found = order;
    while (found < 32 && this.#free[found]!.size === 0) found++;
    const address = found < 32 ? takeAny(this.#free[found]!) : this.#extend(order);
    // What is too much of a larger block stays free, half by half.
    for (let rest = Math.min(found, 31); rest > order && found < 32; )
      this.#free[--rest]!.add(address + 2 ** rest);
    this.#usedBytes += 2 ** order;
    return address;
  }

  /** Gives back a block that was allocated with `sizeBytes`. */
  release(address: number, sizeBytes: number): void {
    let order = orderOf(sizeBytes);
    let at = address;
    this.#usedBytes -= 2 ** order;
    for (; order < 31; order++) {
      const buddy = at % 2 ** (order + 1) === 0 ? at + 2 ** order : at - 2 ** order;
      if (!this.#free[order]!.delete(buddy)) break;
      at = Math.min(at, buddy);
    }
    this.#free[order]!.add(at);
  }

  /** Bytes that a block for `sizeBytes` has. */
  blockBytes(sizeBytes: number): number {
    return 2 ** orderOf(sizeBytes);
  }

  /** Takes a new block from after all others. */
  #extend(order: number): number {
    const size = 2 ** order;
    const address = Math.ceil(this.#top / size) * size;
    const end = address + size;
    if (end > this.limitBytes) {
      throw new AppError(
        "memory_limit",
        `the engine's buffers are full: ${size} more bytes would pass the limit of ${this.limitBytes}; try again when they are written`,
      );
    }
    this.#growTo(end);
    // A block begins at a multiple of its size: what lies before it is free.
    while (this.#top < address) {
      const gap = Math.min(lowestBit(this.#top), 31);
      this.#free[gap]!.add(this.#top);
      this.#top += 2 ** gap;
    }
    this.#top = end;
    return address;
  }

  #growTo(end: number): void {
    const missing = end - this.memory.buffer.byteLength;
    if (missing <= 0) return;
    this.memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.#bytes = new Uint8Array(this.memory.buffer);
    this.#words = new Uint32Array(this.memory.buffer);
  }
}

/** Smallest order whose blocks have `sizeBytes`. */
function orderOf(sizeBytes: number): number {
  return sizeBytes <= 2 ** MIN_ORDER ? MIN_ORDER : 32 - Math.clz32(sizeBytes - 1);
}

/** Number of the lowest bit set, of a number above 0. */
function lowestBit(value: number): number {
  let bit = 0;
  while (value % 2 ** (bit + 1) === 0) bit++;
  return bit;
}

function takeAny(blocks: Set<number>): number {
  const [first] = blocks;
  blocks.delete(first!);
  return first!;
}

/** A growing run of pages of 64 KiB. */
interface WasmMemory {
  /** A longer one after each `grow`. */
  readonly buffer: SharedArrayBuffer;
  /** Adds pages; throws RangeError beyond the maximum. */
  grow(pages: number): number;
}

interface MemoryDescriptor {
  readonly initial: number;
  readonly maximum: number;
  readonly shared: boolean;
}

/** Compiled code. */
export type WasmModule = object;

interface ModuleConstructor {
  new (bytes: Uint8Array): WasmModule;
  /** Returns the contents of all custom sections of a name. */
  customSections(module: WasmModule, name: string): ArrayBuffer[];
}

interface WebAssemblyInterface {
  readonly Memory: new (descriptor: MemoryDescriptor) => WasmMemory;
  readonly Module: ModuleConstructor;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
}

/** The constructors. */
export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyInterface }).WebAssembly;
