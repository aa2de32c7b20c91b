/** Random aggregations that came after 6.5, and the samplers: rare_terms, auto_date_histogram, significant_terms, multi_terms. */

import { type Aggregation, grouped, type Scope } from "./aggregation.ts";
import { Condition, difference } from "./comparing.ts";
import { comparison, FRACTIONS, type Item, type Json, numbersOf, type Value, valuesOf } from "./documents.ts";
import { fieldsOf } from "./question.ts";
import type { SubAggregations } from "./sub-aggregations.ts";

interface KeyedBucket {
  readonly key: Value;
  readonly doc_count: number;
  readonly bg_count?: number;
}

/** More than a shard has. */
const ALL_OF_A_SHARD = 60_000;

export function laterBuckets(scope: Scope, sub: SubAggregations): Aggregation {
  const makers = [rareTerms, significantTerms, sampler];
  return scope.subject.dice.pick(
    scope.level === "root" ? [...makers, automaticHistogram, multiTerms] : makers,
  )(scope, sub);
}

function rareTerms({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  // Fractions are refused.
  const field = subject.dice.pick(
    fieldsOf(level, "keyword", "number").filter((name) => !FRACTIONS.has(name)),
  );
  const most = 1 + subject.dice.below(20);
  const compare = comparison(field);
  return {
    body: { rare_terms: { field, max_doc_count: most }, ...sub.body },
    expect(items) {
      const groups = [...grouped(items, (item) => valuesOf(item, field))].filter(
        ([, group]) => group.length <= most,
      );
      groups.sort((a, b) => a[1].length - b[1].length || compare(a[0], b[0]));
      return { buckets: groups.map(([key, group]) => ({ key, ...sub.expectBucket(group) })) };
    },
  };
}

/** Which interval is chosen isn't expected: buckets must be few, and have the documents from their key to the next one. */
function automaticHistogram({ subject }: Scope, sub: SubAggregations): Aggregation {
  const field = "at";
  const most = subject.dice.pick([1, 5, 20]);
  const fault = (items: readonly Item[], was: unknown): string | undefined => {
    const buckets = (was as { buckets: KeyedBucket[] }).buckets;
    if (buckets.length > most) return `there are ${buckets.length} buckets, more than ${most}`;
    const keys = buckets.map(({ key }) => key as number);
    const groups = grouped(items, (item) =>
      numbersOf(item, field).map((time) => keys.findLastIndex((key) => key <= time)),
    );
    if (groups.has(-1)) return "there are documents before the first bucket";
    return difference(
      keys.map((_, at) => sub.expectBucket(groups.get(at) ?? [])),
      buckets,
      "buckets",
    );
  };
  return {
    body: { auto_date_histogram: { field, buckets: most }, ...sub.body },
    // Where buckets are joined their documents are added up: one with several times may count twice, as may, in the original too,
    // documents above nested objects, so that these aren't asked for.
    expect: (items) =>
      items.some((item) => numbersOf(item, field).length > 1)
        ? undefined
        : new Condition((was) => fault(items, was)),
  };
}

/** Which terms are significant isn't expected: those that are returned have their documents, in the bucket and in the index. */
function significantTerms({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  const field = subject.dice.pick(fieldsOf(level, "keyword"));
  // A shard that doesn't return the term adds nothing to its background, and deleted documents count until they are merged away.
  const knowsBackground = level === "root" && !subject.hasDeleted && subject.shards === 1;
  const fault = (items: readonly Item[], was: unknown): string | undefined => {
    const { buckets } = was as { buckets: KeyedBucket[] };
    for (const bucket of buckets) {
      const having = (all: readonly Item[]): Item[] =>
        all.filter((item) => valuesOf(item, field).includes(bucket.key));
      const background = knowsBackground ? having(subject.items).length : undefined;
      const expected = { ...sub.expectBucket(having(items)), bg_count: background };
      const found = difference(expected, bucket, `significant ${bucket.key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    body: {
      significant_terms: { field, size: 5, min_doc_count: 1, shard_size: ALL_OF_A_SHARD },
      ...sub.body,
    },
    expect: (items) =>
      new Condition((was) => difference({ doc_count: items.length }, was) ?? fault(items, was)),
  };
}

/** A sample of all documents. */
function sampler(_scope: Scope, sub: SubAggregations): Aggregation {
  return {
    body: { sampler: { shard_size: ALL_OF_A_SHARD }, ...sub.body },
    expect: (items) => sub.expectBucket(items),
  };
}

function multiTerms({ subject }: Scope, sub: SubAggregations): Aggregation {
  const missing = subject.dice.chance(0.5);
  const keysOf = (item: Item): string[] =>
    valuesOf(item, "k").flatMap((name) => {
      const flags = valuesOf(item, "b");
      return (flags.length === 0 && missing ? [0] : [...new Set(flags)]).map(
        (flag) => `${name}|${flag === 1}`,
      );
    });
  const terms: Json[] = [{ field: "k" }, { field: "b", ...(missing ? { missing: false } : {}) }];
  return {
    body: {
      multi_terms: { terms, size: 50, shard_size: ALL_OF_A_SHARD, order: { _key: "asc" } },
      ...sub.body,
    },
    expect(items) {
      const groups = [...grouped(items, keysOf)].sort(([a], [b]) => (a < b ? -1 : 1));
      return { buckets: groups.map(([key, group]) => ({ key_as_string: key, ...sub.expectBucket(group) })) };
    },
  };
}
