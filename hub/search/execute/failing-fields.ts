/** Ends a search that reads a computed field of a document that matches, for which it could not be computed. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { FailingField } from "#hub/search/query/failed-documents.ts";
import type { Weight } from "#hub/search/query/query.ts";
import { failingFields } from "#hub/search/query/runtime-reader.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Lets those who see only matching documents ask for columns; returns the fields that must be checked afterwards. */
export function bindCollectors(segment: SegmentReader, bind: () => void): readonly FailingField[] {
  const fields = failingFields(segment);
  for (const field of fields) field.isCollected = true;
  bind();
  for (const field of fields) field.isCollected = false;
  return fields;
}

/** Throws script_failed where a field was read, and a document matches for which it failed; cancelled. */
export async function checkFailed(
  fields: readonly FailingField[],
  weight: Weight,
  segment: SegmentReader,
  control: SearchControl,
): Promise<void> {
  for (const field of fields) {
    const scorer = field.wasRead && !control.timedOut ? weight.scorer(segment) : null;
    if (scorer === null) continue;
    for (let doc = field.failed.nextSet(0); doc >= 0; doc = field.failed.nextSet(doc + 1)) {
      if (scorer.has(doc)) field.refuse();
      if (control.isDue) await control.pause();
    }
  }
}
