/**
 * Memory for blocks of files: parts of the line kernel's memory while it has capacity, ordinary memory beyond. Returned
 * blocks are reused.
 */

import { LineKernel } from "#agent/lines/kernel/line-kernel.ts";

/** Size of a cache line: each block begins at one. */
const ALIGNMENT = 64;

export class BlockMemory {
  readonly #sizeBytes: number;
  readonly #free: Buffer[] = [];
  #kernel: LineKernel | undefined;
  #usedBytes = 0;

  /** `sizeBytes`: of the kernel's memory. It takes address space at once, and memory as blocks are written. */
  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** The kernel; made at the first use. Throws unavailable if the machine can't run it. */
  get kernel(): LineKernel {
    this.#kernel ??= LineKernel.create(this.#sizeBytes);
    return this.#kernel;
  }

  /** Returns the kernel if all of `buffers` are parts of its memory, else null. */
  kernelFor(...buffers: readonly Buffer[]): LineKernel | null {
    const { kernel } = this;
    return buffers.every((buffer) => kernel.holds(buffer)) ? kernel : null;
  }

  /** Returns a block of `sizeBytes` with any content. */
  allocate(sizeBytes: number): Buffer {
    const known = this.#free.findIndex(({ length }) => length === sizeBytes);
    if (known >= 0) return this.#free.splice(known, 1)[0]!;
    const end = this.#usedBytes + Math.ceil(sizeBytes / ALIGNMENT) * ALIGNMENT;
    if (end > this.#sizeBytes) return Buffer.allocUnsafeSlow(sizeBytes);
    const block = Buffer.from(this.kernel.memory, this.#usedBytes, sizeBytes);
    this.#usedBytes = end;
    return block;
  }

  /** Takes a block back that is no longer in use. */
  giveBack(block: Buffer): void {
    if (this.#kernel?.holds(block) === true) this.#free.push(block);
  }
}

/** A buffer that the files of one input share in turn, for bytes that are cut into events. */
export class Scratch {
  readonly #sizeBytes: number;
  readonly #memory: BlockMemory;
  #buffer: Buffer | undefined;
  #grown: Buffer | undefined;

  constructor(sizeBytes: number, memory: BlockMemory) {
    this.#sizeBytes = sizeBytes;
    this.#memory = memory;
  }

  /** The buffer; made at the first use. */
  get buffer(): Buffer {
    this.#buffer ??= this.#memory.allocate(this.#sizeBytes);
    return this.#grown ?? this.#buffer;
  }

  /** Makes `buffer` larger for one long event; its content is lost. */
  grow(sizeBytes: number): void {
    if (this.buffer.length < sizeBytes) this.#grown = Buffer.allocUnsafeSlow(sizeBytes);
  }

  /** Releases the memory of a long event. */
  shrink(): void {
    this.#grown = undefined;
  }

  /** Releases everything; nothing is read any more. */
  release(): void {
    this.shrink();
    if (this.#buffer !== undefined) this.#memory.giveBack(this.#buffer);
    this.#buffer = undefined;
  }
}
