/** Terms computed by a script from documents. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
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
import type { ValueFormat } from "#hub/search/columns/value-format.ts";
import {
  type ScriptedValue,
  scriptedNumber,
  textsOn,
  type ValueScript,
  valuesOn,
} from "#hub/search/scripting/document-script.ts";

/** Documents between two pauses, as a script is run on each. */
const STEP_DOCS = 64;

/** Type of the keys. */
interface ScriptedKeys {
  readonly script: ValueScript;
  /** The format of numbers; undefined: keys are texts. */
  readonly format: ValueFormat | undefined;
  /** Keys are numbers without a fraction, which is cut. */
  readonly isWhole: boolean;
  /** Value of documents without one. */
  readonly missing: ScriptedValue | undefined;
}

export class ScriptTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #scripted: ScriptedKeys;
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;
  readonly #bind: ReturnType<typeof valuesOn>;
  /** Of all documents, once they were needed. */
  #all: ReadonlySet<string | number> | undefined;
  #valuesOf: (doc: number) => ScriptedValue[] = () => [];

  constructor(context: TermsContext, scripted: ScriptedKeys) {
    this.#context = context;
    this.#scripted = scripted;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
    this.#bind = (scripted.format === undefined ? textsOn : valuesOn)(scripted.script, context.shard);
  }

  segment(segment: SegmentReader): void {
    this.#valuesOf = this.#bind(segment);
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const { filter } = this.#context;
    for (let at = 0; at < length; at++) {
      for (const key of this.#keysOf(this.#valuesOf(docs[at]!)))
        if (filter?.(String(key)) !== false)
          this.#buckets.add(docs[at]!, this.#keys.bucket(owners[at]!, key));
    }
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<TermsState> {
    if (this.#context.shape.minDocCount === 0) {
      this.#all ??= yield* this.#allKeys();
      yield* this.#keys.addAll(owner, this.#all);
    }
    const terms = collectedTerms(this.#keys.of(owner), this.#buckets);
    const handed = yield* handOn(this.#context, terms, this.#keys.owners);
    const { format, isWhole } = this.#scripted;
    if (format === undefined) return textState(handed);
    return { ...handed, parts: 1, kind: isWhole ? "long" : "double", format };
  }

  /** With min_doc_count 0 keys that no matching document has get buckets too. */
  *#allKeys(): Steps<ReadonlySet<string | number>> {
    const { budget, filter, shard } = this.#context;
    const keys = new Set<string | number>();
    for (const segment of shard.searcher.segments) {
      const valuesOf = this.#bind(segment);
      for (let doc = 0; doc < segment.docCount; doc++) {
        if (doc % STEP_DOCS === 0) yield;
        for (const key of this.#keysOf(valuesOf(doc))) {
          if (keys.has(key) || filter?.(String(key)) === false) continue;
          budget.add();
          keys.add(key);
        }
      }
    }
    return keys;
  }

  /** Returns the keys of a document with the values `found`, each once. */
  #keysOf(found: readonly ScriptedValue[]): Set<string | number> {
    const { missing } = this.#scripted;
    const values = found.length > 0 || missing === undefined ? found : [missing];
    return new Set(values.map((value) => this.#keyOf(value)));
  }

  #keyOf(value: ScriptedValue): string | number {
    const { format, isWhole } = this.#scripted;
    if (format === undefined) return String(value);
    const number = scriptedNumber(value, "terms");
    return isWhole ? wholeKey(number) : number;
  }
}

/** Cuts the fraction of a number. Not -0, which would be another key than 0. */
export function wholeKey(number: number): number {
  return Math.trunc(number) + 0;
}
