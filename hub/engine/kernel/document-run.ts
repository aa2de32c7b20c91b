/** A run of consecutive documents: copied into the kernel's scratch memory, with their shapes. */

import * as at from "./assembly/layout.ts";
import type { Kernel } from "./kernel.ts";

/** Bytes of documents that are given to the kernel at once: they stay in the processor's cache until they are read. */
const RUN_LIMIT_BYTES = 128 * 1024;

/** Where documents are in a run of bytes. */
export interface DocumentRun {
  readonly bytes: Uint8Array;
  sourceStart(index: number): number;
  sourceStop(index: number): number;
}

/** The run that is one document. */
export function wholeRun(bytes: Uint8Array): DocumentRun {
  return { bytes, sourceStart: () => 0, sourceStop: () => bytes.length };
}

/**
 * Places documents from `from` on, before `to`, in the scratch input, and where each is there in the scratch extents.
 * Takes the first one whatever its size, and no more than belong into the kernel at once; returns the next one's number.
 */
export function placeRun(kernel: Kernel, run: DocumentRun, from: number, to: number): number {
  const base = run.sourceStart(from);
  let next = from + 1;
  while (next < to && run.sourceStop(next) <= base + RUN_LIMIT_BYTES) next++;
  kernel.place(kernel.scratchAt + at.SCRATCH_INPUT, run.bytes, base, run.sourceStop(next - 1));
  const extentsAt = kernel.reserve(kernel.scratchAt + at.SCRATCH_EXTENTS, (next - from) * at.EXTENT_BYTES);
  const { words } = kernel.memory;
  for (let index = from, word = extentsAt >> 2; index < next; index++) {
    const start = run.sourceStart(index);
    words[word++] = start - base;
    words[word++] = run.sourceStop(index) - start;
  }
  return next;
}

/**
 * Returns the shape of each of the first `count` documents of a run. Two are equal where those of jsonShape are. Numbers of
 * kernels with different seeds have nothing to do with each other.
 */
export function documentShapes(run: DocumentRun, count: number, kernel: Kernel): Float64Array {
  const shapes = new Float64Array(count);
  for (let from = 0; from < count; ) {
    const next = placeRun(kernel, run, from, count);
    const outAt = kernel.reserve(kernel.scratchAt + at.SCRATCH_PLAIN, 8 * (next - from));
    kernel.functions.shapesOf(kernel.start(kernel.scratchAt + at.SCRATCH_EXTENTS), next - from, outAt);
    shapes.set(new Float64Array(kernel.memory.memory.buffer, outAt, next - from), from);
    from = next;
  }
  return shapes;
}
