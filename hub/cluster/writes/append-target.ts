/** Where new documents go: their index, once all of their fields are in its mapping. */

import { checkStreamWrite } from "#hub/cluster/catalog/data-streams.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { KnownShapes } from "./known-shapes.ts";

/** Documents for one index, behind each other with `gap` bytes between two. */
export interface Appended {
  /** Name, alias or data stream. */
  readonly index: string;
  /** What clients call it; the pipeline's documents are new by construction. */
  readonly kind?: "index" | "create";
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly ends: Uint32Array;
  readonly gap: number;
  /** The shape of each, see jsonShape (#proto/codec/json-shape.ts). */
  readonly shapes: Float64Array;
}

/**
 * Returns the index; null where it can't take all of them, as one is no document, has a field that can't be, or the
 * index is closed: who writes them one by one finds out which. Throws what may pass, and internal.
 */
export async function appendTarget(
  documents: Appended,
  catalog: IndexCatalog,
  known: KnownShapes,
  lenient: boolean,
): Promise<IndexMetadata | null> {
  const { bytes, start, ends, gap, shapes } = documents;
  try {
    let index = await catalog.ensure(documents.index);
    if (index.state === "close") return null;
    if (documents.kind !== undefined)
      checkStreamWrite(index, { index: documents.index, kind: documents.kind });
    let last = Number.NaN;
    for (let place = 0, from = start; place < ends.length; from = ends[place++]! + gap) {
      const shape = shapes[place]!;
      if (shape === last || known.has(index, shape)) {
        last = shape;
        continue;
      }
      const fields = known.missing(index, bytes.subarray(from, ends[place]), lenient, shape);
      if (fields === null) continue;
      await catalog.putMapping(index.name, fields);
      index = catalog.get(index.name) ?? index;
    }
    return index;
  } catch (error) {
    const failure = toAppError(error);
    if (failure.retryable || failure.code === "internal") throw failure;
    return null;
  }
}
