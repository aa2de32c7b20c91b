/** Finds the index of new documents and adds their new fields to its mapping. */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { AppendRun } from "./append-run.ts";
import { checkTarget } from "./doc-operation.ts";
import type { KnownShapes } from "./known-shapes.ts";

/**
 * Returns the index of new documents that all go to one index. Returns null if the index can't take all of them (an invalid
 * document, a field that can't be mapped, a closed index), in which case writing them one by one finds the documents at
 * fault; or if a document that a thread has would have to be inspected. Throws temporary failures, and internal. `kind`:
 * what clients call the operation; a pipeline's documents are new by construction.
 */
export async function appendTarget(
  documents: AppendRun & { readonly shapes: Float64Array },
  catalog: IndexCatalog,
  known: KnownShapes,
  { lenient, kind }: { readonly lenient: boolean; readonly kind?: "index" | "create" },
): Promise<IndexMetadata | null> {
  const { bytes, start, ends, gap, shapes, lent } = documents;
  const name = documents.indexNames[0]!;
  try {
    let index = await catalog.ensure(name);
    if (index.state === "close") return null;
    if (kind !== undefined) checkTarget(index, { index: name, kind });
    let last = Number.NaN;
    for (let place = 0, from = start; place < ends.length; from = ends[place++]! + gap) {
      const shape = shapes[place]!;
      if (shape === last || known.has(index, shape)) {
        last = shape;
        continue;
      }
      // A shape doesn't tell whether a document has too many nested objects.
      const isSeen = lent === undefined || index.mapping.nested.paths.length === 0;
      const source = lent === undefined ? bytes.subarray(from, ends[place]) : lent.samples.get(shape);
      if (source === undefined || !isSeen) return null;
      const fields = known.missing(index, source, lenient, shape);
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
