/** Positions of all terms that match a prefix, a pattern or a fuzzy term. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { inSteps } from "#hub/search/execute/nodes/documents.ts";
import type { Query } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import { anyOf, type Intervals } from "./algebra.ts";
import { type IntervalReader, type IntervalSource, termSource } from "./source.ts";

/** Terms of a segment that a pattern may stand for: each is read by a cursor of its own. */
const MAX_TERMS = 1024;

/** Terms of the dictionary between two pauses: well below a millisecond. */
const STEP_TERMS = 512;

/** Which terms of a field are meant. */
export interface TermPattern {
  /** Name of the rule, for messages. */
  readonly owner: string;
  readonly prefix: string;
  readonly accepts: (term: string) => boolean;
}

export class PatternSource implements IntervalSource {
  readonly candidates: Query;
  readonly minExtent = 1;
  readonly #field: string;
  readonly #pattern: TermPattern;
  /** Terms of the segment that was prepared last. */
  #last: { readonly segment: SegmentReader; readonly terms: readonly string[] } | undefined;

  constructor(field: string, pattern: TermPattern) {
    this.#field = field;
    this.#pattern = pattern;
    this.candidates = new TermsNode(field, {
      terms: (segment, path) => segment.terms(path)?.prefix(pattern.prefix) ?? null,
      accepts: pattern.accepts,
    });
  }

  async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    const terms = await inSteps(this.#walk(segment), control);
    if (terms !== undefined) this.#last = { segment, terms };
  }

  open(segment: SegmentReader): IntervalReader {
    const readers = this.#terms(segment).map((term) => termSource(this.#field, term).open(segment));
    return (doc) => {
      const lists: Intervals[] = [];
      for (const read of readers) {
        const list = read(doc);
        if (list.length > 0) lists.push(list);
      }
      return anyOf(lists);
    };
  }

  #terms(segment: SegmentReader): readonly string[] {
    if (this.#last?.segment === segment) return this.#last.terms;
    const steps = this.#walk(segment);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    this.#last = { segment, terms: step.value };
    return step.value;
  }

  /** Throws request_invalid for too many terms. */
  *#walk(segment: SegmentReader): Generator<void, string[]> {
    const { owner, prefix, accepts } = this.#pattern;
    const terms = segment.terms(this.#field)?.prefix(prefix);
    const found: string[] = [];
    for (let walked = 1; terms !== undefined; walked++) {
      while (!terms.approach()) yield;
      if (!terms.next()) break;
      if (walked % STEP_TERMS === 0) yield;
      if (!accepts(terms.text())) continue;
      if (found.push(terms.text()) <= MAX_TERMS) continue;
      throw new AppError(
        "request_invalid",
        `[intervals] [${owner}] expanded to too many terms (limit ${MAX_TERMS}); give more characters`,
      );
    }
    return found;
  }
}
