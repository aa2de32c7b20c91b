/** Shapes of documents by the kernel: other numbers than those of #proto/codec/json-shape.ts, which threads without it use. */

import * as at from "#hub/engine/kernel/assembly/layout.ts";
import { type DocumentRun, placeRun } from "./document-run.ts";
import type { Kernel } from "./kernel.ts";

/**
 * Returns the shape of each of the first `count` documents of a run. Two are equal where those of jsonShape are. Numbers of
 * different kernels have nothing to do with each other.
 */
export function documentShapes(run: DocumentRun, count: number, kernel: Kernel): Float64Array {
  const shapes = new Float64Array(count);
  for (let from = 0; from < count; ) {
    const next = placeRun(kernel, run, from, count);
    const outAt = kernel.room(kernel.scratchAt + at.SCRATCH_PLAIN, 8 * (next - from));
    kernel.functions.shapesOf(kernel.start(kernel.scratchAt + at.SCRATCH_EXTENTS), next - from, outAt);
    shapes.set(new Float64Array(kernel.memory.memory.buffer, outAt, next - from), from);
    from = next;
  }
  return shapes;
}
