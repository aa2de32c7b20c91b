/** What a message became where that is nothing but new documents of one index, which is nearly always: columns still. */

import type { PackedDocuments } from "#hub/pipeline/batch/packed-documents.ts";
import type { NewDocuments, SourceRange } from "./ports.ts";

/** Place of "append" in DOCUMENT_ACTIONS. */
const APPEND = 0;

/** Returns the documents as columns; null where they need to be looked at one by one. */
export function newDocuments(packed: PackedDocuments, ranges: readonly SourceRange[]): NewDocuments | null {
  const { bytes, ends, ids, idEnds, indexNames, ordinals, offsets, actions, shapes } = packed;
  const [index] = indexNames;
  const idBytes = idEnds[0] ?? 0;
  if (index === undefined || indexNames.length > 1 || idBytes === 0) return null;
  for (let place = 0; place < ends.length; place++)
    if (actions[place] !== APPEND || idEnds[place] !== (place + 1) * idBytes) return null;
  const idText = Buffer.from(ids);
  // Ids that somebody chose may be more than ASCII.
  if (idText.length !== ids.length) return null;
  const sourceIndices = sourceIndicesOf(offsets, ranges);
  return { index, bytes, ends, ids: idText, idBytes, ordinals, sourceIndices, offsets, shapes };
}

/** See DocOperation: 1-based, 0 without sources. */
function sourceIndicesOf(offsets: Float64Array, ranges: readonly SourceRange[]): Uint32Array {
  const result = new Uint32Array(offsets.length);
  if (ranges.length <= 1) return result.fill(ranges.length);
  let range = 0;
  for (let place = 0; place < offsets.length; place++) {
    while (range < ranges.length - 1 && offsets[place]! >= ranges[range]!.to) range++;
    result[place] = range + 1;
  }
  return result;
}
