/**
 * Memory for blocks of files: parts of the line kernel's own, as long as there is room, and ordinary memory beyond or
 * where there is no kernel. What is given back is used again.
 */

import { LineKernel } from "#agent/lines/kernel/line-kernel.ts";

/** Lines of the processor's cache: blocks begin with one. */
const ALIGNMENT = 64;

export class BlockMemory {
  readonly #sizeBytes: number;
  readonly #free: Buffer[] = [];
  /** Made at the first use; null where there can't be one. */
  #kernel: LineKernel | null | undefined;
  #usedBytes = 0;

  /** `sizeBytes`: of the kernel's memory. It takes room of the address space at once, and of the machine as it is written. */
  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** Returns the kernel where it can work on all of `buffers`, else null. */
  kernelFor(...buffers: readonly Buffer[]): LineKernel | null {
    const kernel = this.#kernel ?? null;
    return kernel !== null && buffers.every((buffer) => kernel.holds(buffer)) ? kernel : null;
  }

  /** Returns a block of `sizeBytes` with any content. */
  allocate(sizeBytes: number): Buffer {
    const known = this.#free.findIndex(({ length }) => length === sizeBytes);
    if (known >= 0) return this.#free.splice(known, 1)[0]!;
    this.#kernel ??= LineKernel.create(this.#sizeBytes);
    const end = this.#usedBytes + Math.ceil(sizeBytes / ALIGNMENT) * ALIGNMENT;
    if (this.#kernel === null || end > this.#sizeBytes) return Buffer.allocUnsafeSlow(sizeBytes);
    const block = Buffer.from(this.#kernel.memory, this.#usedBytes, sizeBytes);
    this.#usedBytes = end;
    return block;
  }

  /** Takes a block back that nobody uses any more. */
  giveBack(block: Buffer): void {
    if (this.#kernel?.holds(block) === true) this.#free.push(block);
  }
}
