/** A segment with a field more, which another segment of the same documents holds. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { NestedBlock } from "#hub/engine/segment/nested-cache.ts";
import { FailingField } from "./failed-documents.ts";
import { SegmentView } from "./segment-view.ts";

/** Shows `field` of `computed` in place of one of that name in the segment, and all else of the segment. */
export class RuntimeReader extends SegmentView {
  readonly #computed: SegmentReader | null;
  readonly #field: string;
  /** The field, where it couldn't be computed for some documents. */
  readonly failing: FailingField | undefined;

  /** `key` names how the field was computed. */
  constructor(whole: SegmentReader, { objects, failed }: NestedBlock, field: string, key: string) {
    super(whole, key);
    if (objects !== null && failed !== undefined) this.failing = new FailingField(whole, objects, failed);
    this.#computed = this.failing ?? objects;
    this.#field = field;
  }

  override fieldNames(): string[] {
    const names = this.whole.fieldNames().filter((field) => field !== this.#field);
    return this.#computed?.fieldNames().includes(this.#field) === true ? [...names, this.#field] : names;
  }

  protected override of(field: string): SegmentReader | null {
    return field === this.#field ? this.#computed : this.whole;
  }
}

/** Returns the computed fields of a segment that some documents have failed for. */
export function failingFields(segment: SegmentReader): FailingField[] {
  const found: FailingField[] = [];
  for (let view: SegmentReader | undefined = segment; view !== undefined; view = view.whole)
    if (view instanceof RuntimeReader && view.failing !== undefined) found.push(view.failing);
  return found;
}
