/**
 * Terms of a text field: from its in-memory column if it has `fielddata`, otherwise analysed again from the documents,
 * because text has no column on disk.
 */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  handOn,
  type TermsContext,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { RawJson } from "#hub/search/options/json-writer.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { sourcePath, valuesAt } from "#hub/search/source/source-values.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Maximum UTF-16 units of a value that are analysed. */
const MAX_ANALYZED = 100_000;

/** Documents between two pauses, as each may be analysed. */
const STEP_DOCS = 64;

/** Returns the terms of a document's values, each once; without the terms of passages that `copies` has seen. */
export function textTerms(
  shard: ShardContext,
  field: Field,
  segment: SegmentReader,
  copies?: DuplicateWords,
): (doc: number) => Set<string> {
  const column = copies === undefined && field.fielddata ? columnOf(segment, field) : null;
  if (column !== null) return columnTerms(column);
  const path = sourcePath(field, shard);
  const analyzer = shard.mapping.analysis.analyzer(field.analyzer);
  return (doc) => {
    const source = new RawJson(segment.source(doc)).parse() as JsonObject;
    const terms = new Set<string>();
    for (const value of valuesAt(source, path)) {
      const words = analyzer.tokens(String(value).slice(0, MAX_ANALYZED)).map(({ text }) => text);
      for (const word of copies?.fresh(words) ?? words) terms.add(word);
    }
    return terms;
  };
}

/** Null if the segment has no terms of the field, or too many for a column in memory. */
function columnOf(segment: SegmentReader, field: Field): KeywordColumn | null {
  try {
    return segment.uninverted(field.path);
  } catch (error) {
    if (toAppError(error).code !== "memory_limit") throw error;
    return null;
  }
}

function columnTerms(column: KeywordColumn): (doc: number) => Set<string> {
  const reader = column.reader();
  const ordinals: number[] = [];
  return (doc) => {
    const terms = new Set<string>();
    const count = column.read(doc, ordinals);
    for (let at = 0; at < count; at++) terms.add(reader.text(ordinals[at]!));
    return terms;
  };
}

/** Collects `terms` of a text field with `fielddata`. */
export class TextTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #field: Field;
  readonly #keys: KeyTable<string>;
  readonly #buckets: BucketCollector;
  readonly #copies: DuplicateWords | undefined;
  /** Of all documents, once they were needed. */
  #all: ReadonlySet<string> | undefined;
  #terms: (doc: number) => Set<string> = () => new Set();

  /** `copies`: filter that leaves out words of copied passages. */
  constructor(context: TermsContext, field: Field, copies?: DuplicateWords) {
    this.#copies = copies;
    this.#context = context;
    this.#field = field;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    this.#terms = textTerms(this.#context.shard, this.#field, segment, this.#copies);
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const { filter } = this.#context;
    for (let at = 0; at < length; at++) {
      for (const term of this.#terms(docs[at]!)) {
        if (filter?.(term) !== false) this.#buckets.add(docs[at]!, this.#keys.bucket(owners[at]!, term));
      }
    }
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<TermsState> {
    if (this.#context.shape.minDocCount === 0) {
      this.#all ??= yield* this.#allTerms();
      yield* this.#keys.addAll(owner, this.#all);
    }
    const terms = collectedTerms(this.#keys.of(owner), this.#buckets);
    return textState(yield* handOn(this.#context, terms, this.#keys.owners));
  }

  /** With min_doc_count 0 terms that no matching document has get buckets too. */
  *#allTerms(): Steps<ReadonlySet<string>> {
    const { budget, filter, shard } = this.#context;
    const all = new Set<string>();
    for (const segment of shard.searcher.segments) {
      const terms = textTerms(shard, this.#field, segment);
      for (let doc = 0; doc < segment.docCount; doc++) {
        if (doc % STEP_DOCS === 0) yield;
        for (const term of terms(doc)) {
          if (all.has(term) || filter?.(term) === false) continue;
          budget.add();
          all.add(term);
        }
      }
    }
    return all;
  }
}

/** Words that have to follow one another in two documents to be a copy. */
const PASSAGE_WORDS = 6;

/** Passages that are remembered; later ones are never found to be copies. */
const MAX_PASSAGES = 200_000;

export class DuplicateWords {
  readonly #seen = new Set<string>();

  /** Returns the words of a document that aren't in a passage of an earlier document, and remembers its passages. */
  fresh(words: readonly string[]): string[] {
    const copied = new Uint8Array(words.length);
    const passages: string[] = [];
    for (let at = 0; at + PASSAGE_WORDS <= words.length; at++) {
      const passage = words.slice(at, at + PASSAGE_WORDS).join("\u0000");
      if (this.#seen.has(passage)) copied.fill(1, at, at + PASSAGE_WORDS);
      else passages.push(passage);
    }
    for (const passage of passages) if (this.#seen.size < MAX_PASSAGES) this.#seen.add(passage);
    return words.filter((_, at) => copied[at] === 0);
  }
}
