/** Shapes of documents: the kernel's, which are other numbers than those of its twin, #proto/codec/json-shape.ts. */

import * as at from "#hub/engine/kernel/assembly/layout.ts";
import { jsonShape } from "#proto/codec/json-shape.ts";
import { type DocumentRun, placeRun } from "./document-run.ts";
import type { Kernel } from "./kernel.ts";

/**
 * Returns the shape of each of the first `count` documents of a run. Equal where those of jsonShape are. `kernel` null: by
 * the twin. Numbers of different kernels have nothing to do with each other.
 */
export function documentShapes(run: DocumentRun, count: number, kernel: Kernel | null): Float64Array {
  const shapes = new Float64Array(count);
  if (kernel === null) {
    for (let index = 0; index < count; index++)
      shapes[index] = jsonShape(run.bytes, run.sourceStart(index), run.sourceStop(index));
    return shapes;
  }
  for (let from = 0; from < count; ) {
    const next = placeRun(kernel, run, from, count);
    const outAt = kernel.room(kernel.scratchAt + at.SCRATCH_PLAIN, 8 * (next - from));
    kernel.functions.shapesOf(kernel.start(kernel.scratchAt + at.SCRATCH_EXTENTS), next - from, outAt);
    shapes.set(new Float64Array(kernel.memory.memory.buffer, outAt, next - from), from);
    from = next;
  }
  return shapes;
}
