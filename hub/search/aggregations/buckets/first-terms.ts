/** Selects the first terms buckets of an owner by an order, with a heap instead of a full sort. */

import type { AggregationTree, TreeState } from "#hub/search/aggregations/tree/aggregation.ts";
import { type BucketOrder, compareKeys, compareMetrics } from "#hub/search/aggregations/tree/bucket-order.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";

/** Buckets between two pauses: well below a millisecond. */
const STEP_BUCKETS = 512;

/** Buckets of an owner as their collector has them: numbers 0..length - 1. */
export interface CollectedTerms {
  readonly length: number;
  count(at: number): number;
  key(at: number): string | number;
  /** Compares keys, if that is possible without making them. */
  compareKeys?(a: number, b: number): number;
  below(at: number): TreeState;
  belowSteps(at: number): Steps<TreeState>;
}

/** The order of terms, and the aggregations whose metrics it may name. */
export interface TermsOrder {
  readonly below: AggregationTree;
  readonly order: readonly BucketOrder[];
  /** The order of keys, if it isn't that of numbers and texts. */
  readonly compareKeys?: (a: string | number, b: string | number) => number;
}

/** What an order needs of buckets. */
type OrderedTerms = Omit<CollectedTerms, "belowSteps">;

type Compare = (a: number, b: number) => number;

/** Returns the numbers of the first `keep` buckets, in order. Pauses may be made at each step. */
export function* firstTerms(terms: OrderedTerms, shape: TermsOrder, keep: number): Steps<Int32Array> {
  const compares: Compare[] = [];
  for (const order of shape.order) compares.push(yield* compareBy(order, terms, shape));
  compares.push(byKey(terms, shape));
  const compare: Compare = (a, b) => {
    for (const each of compares) {
      const result = each(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
  if (keep === 0) return new Int32Array(0);
  if (yield* areInOrder(terms.length, compare))
    return Int32Array.from({ length: Math.min(keep, terms.length) }, (_, at) => at);
  const first = new First(Math.min(keep, terms.length), compare);
  for (let at = 0; at < terms.length; at++) {
    if (at % STEP_BUCKETS === STEP_BUCKETS - 1) yield;
    first.offer(at);
  }
  return yield* first.sortedSteps();
}

/** Returns whether all are already in order, as they are with a single shard. */
function* areInOrder(count: number, compare: Compare): Steps<boolean> {
  for (let at = 1; at < count; at++) {
    if (compare(at - 1, at) > 0) return false;
    if (at % STEP_BUCKETS === STEP_BUCKETS - 1) yield;
  }
  return true;
}

function* compareBy(
  { by, name, part, descending }: BucketOrder,
  terms: OrderedTerms,
  shape: TermsOrder,
): Steps<Compare> {
  const sign = descending ? -1 : 1;
  if (by === "key") {
    const compare = byKey(terms, shape);
    return (a, b) => sign * compare(a, b);
  }
  if (by === "count") return (a, b) => sign * (terms.count(a) - terms.count(b));
  // Each state is requested only once because it is at least one object.
  const { aggregation } = shape.below.get(name)!;
  const numbers = new Float64Array(terms.length);
  for (let at = 0; at < terms.length; at++) {
    if (at % STEP_BUCKETS === STEP_BUCKETS - 1) yield;
    const state = terms.below(at)[name] ?? aggregation.empty();
    numbers[at] = aggregation.metric?.(state, part) ?? Number.NaN;
  }
  return (a, b) => compareMetrics(numbers[a]!, numbers[b]!, descending);
}

function byKey(terms: OrderedTerms, shape: TermsOrder): Compare {
  const compare = shape.compareKeys ?? compareKeys;
  return (a, b) => terms.compareKeys?.(a, b) ?? compare(terms.key(a), terms.key(b));
}

/** A heap of the first numbers by an order, the last one on top. */
class First {
  readonly #heap: Int32Array;
  readonly #compare: Compare;
  #size = 0;

  constructor(keep: number, compare: Compare) {
    this.#heap = new Int32Array(keep);
    this.#compare = compare;
  }

  offer(number: number): void {
    const heap = this.#heap;
    if (this.#size < heap.length) {
      heap[this.#size] = number;
      this.#rise(this.#size++);
    } else if (this.#compare(number, heap[0]!) < 0) {
      heap[0] = number;
      this.#sink(heap.length);
    }
  }

  /** All, in order. The heap is not used any more. */
  *sortedSteps(): Steps<Int32Array> {
    const heap = this.#heap;
    for (let end = this.#size - 1; end > 0; end--) {
      if (end % STEP_BUCKETS === STEP_BUCKETS - 1) yield;
      [heap[0], heap[end]] = [heap[end]!, heap[0]!];
      this.#sink(end);
    }
    return heap.subarray(0, this.#size);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (this.#compare(heap[child]!, heap[parent]!) <= 0) return;
      [heap[child], heap[parent]] = [heap[parent]!, heap[child]!];
      child = parent;
    }
  }

  #sink(size: number): void {
    const heap = this.#heap;
    for (let parent = 0; ; ) {
      let last = parent;
      for (let child = 2 * parent + 1; child <= 2 * parent + 2 && child < size; child++)
        if (this.#compare(heap[child]!, heap[last]!) > 0) last = child;
      if (last === parent) return;
      [heap[last], heap[parent]] = [heap[parent]!, heap[last]!];
      parent = last;
    }
  }
}
