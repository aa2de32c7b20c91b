/** A segment with a field more, which another segment of the same documents holds. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { SegmentView } from "./segment-view.ts";

/** Shows `field` of `computed` in place of one of that name in the segment, and all else of the segment. */
export class RuntimeReader extends SegmentView {
  readonly #computed: SegmentReader | null;
  readonly #field: string;

  /** `computed`: null where there are no documents; `key` names how the field was computed. */
  constructor(whole: SegmentReader, computed: SegmentReader | null, field: string, key: string) {
    super(whole, key);
    this.#computed = computed;
    this.#field = field;
  }

  override fieldNames(): string[] {
    const names = this.whole.fieldNames().filter((field) => field !== this.#field);
    return this.exists(this.#field) === null ? names : [...names, this.#field];
  }

  protected override of(field: string): SegmentReader | null {
    return field === this.#field ? this.#computed : this.whole;
  }
}
