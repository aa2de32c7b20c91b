/** Documents with any of many terms of a field: prefixes, patterns, ranges of keywords, lists. Each scores 1. */

import { POSTINGS_BLOCK, type SegmentReader, type TermIterator } from "#hub/engine/searcher.ts";
import { Bitset } from "#hub/engine/segment/bitset.ts";
import type { HighlightSink } from "../query.ts";
import { SetNode } from "./documents.ts";

/** Which terms of a dictionary are meant. */
export interface TermSelection {
  /** Terms of the segment's dictionary that may match, in order; null for none. */
  terms(segment: SegmentReader, field: string): TermIterator | null;
  /** False leaves the term out; absent: all of `terms` match. */
  readonly accepts?: (text: string) => boolean;
}

/** Documents with a term of a selection. */
export class TermsNode extends SetNode {
  readonly #field: string;
  readonly #selection: TermSelection;

  constructor(field: string, selection: TermSelection) {
    super();
    this.#field = field;
    this.#selection = selection;
  }

  highlight(sink: HighlightSink): void {
    const { accepts } = this.#selection;
    if (accepts !== undefined) sink.pattern(this.#field, accepts);
  }

  protected select(segment: SegmentReader): Bitset | null {
    const terms = this.#selection.terms(segment, this.#field);
    if (terms === null) return null;
    const { accepts } = this.#selection;
    const docs = new Int32Array(POSTINGS_BLOCK);
    let set: Bitset | null = null;
    while (terms.next()) {
      if (accepts !== undefined && !accepts(terms.text())) continue;
      set ??= new Bitset(segment.docCount);
      const cursor = terms.postings();
      for (let length = cursor.nextBlock(docs, null); length > 0; length = cursor.nextBlock(docs, null)) {
        for (let at = 0; at < length; at++) set.add(docs[at]!);
      }
    }
    return set;
  }
}

/** Documents with one of the terms given. */
export class TermListNode extends SetNode {
  readonly #field: string;
  readonly #terms: readonly (string | Uint8Array)[];

  constructor(field: string, terms: readonly (string | Uint8Array)[]) {
    super();
    this.#field = field;
    this.#terms = terms;
  }

  highlight(sink: HighlightSink): void {
    for (const term of this.#terms) if (typeof term === "string") sink.term(this.#field, term);
  }

  protected select(segment: SegmentReader): Bitset | null {
    const docs = new Int32Array(POSTINGS_BLOCK);
    let set: Bitset | null = null;
    for (const term of this.#terms) {
      const cursor = segment.postings(this.#field, term);
      if (cursor === null) continue;
      set ??= new Bitset(segment.docCount);
      for (let length = cursor.nextBlock(docs, null); length > 0; length = cursor.nextBlock(docs, null)) {
        for (let at = 0; at < length; at++) set.add(docs[at]!);
      }
    }
    return set;
  }
}
