/** A segment without the fields of nested objects: those aren't fields of the document around them, nor the reverse. */

import type { NestedLevels } from "#hub/engine/mapping/nested-levels.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { SegmentView } from "./segment-view.ts";

/** Shows the fields of one level of a mapping's nested objects; the others read as absent. */
export class ScopedReader extends SegmentView {
  readonly #levels: NestedLevels;
  readonly #level: string;

  /** `level`: path of the nested object that the documents are, "" for whole documents. */
  constructor(whole: SegmentReader, levels: NestedLevels, level: string) {
    super(whole, level);
    this.#levels = levels;
    this.#level = level;
  }

  protected override of(field: string): SegmentReader | null {
    return this.#levels.isVisible(field, this.#level) ? this.whole : null;
  }
}
