/** Terms in parts: by partitions, and cut by shards. */

import { grouped } from "./aggregation.ts";
import { difference } from "./comparing.ts";
import { type Json, type Value, valuesOf } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import { fieldsOf, type Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";

interface Terms {
  readonly doc_count_error_upper_bound: number;
  readonly sum_other_doc_count: number;
  readonly buckets: readonly {
    readonly key: Value;
    readonly doc_count: number;
    readonly doc_count_error_upper_bound: number;
  }[];
}

const MOST_TERMS = 10_000;

/** Each term is in one partition. */
export async function partitions(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const field = dice.pick(fieldsOf("root", "keyword", "number"));
  const count = dice.between(2, 4);
  const found = new Map<Value, number>();
  let body: Json = {};
  for (let partition = 0; partition < count; partition++) {
    const include = { partition, num_partitions: count };
    body = { size: 0, query, aggs: { terms: { terms: { field, size: MOST_TERMS, include } } } };
    const { aggregations } = await index.search(body);
    for (const { key, doc_count: documents } of (aggregations!["terms"] as Terms).buckets) {
      if (found.has(key)) return faultText(`${key} is in two partitions`, body);
      found.set(key, documents);
    }
  }
  const groups = grouped(subject.items.filter(fits), (item) => valuesOf(item, field));
  const expected = Object.fromEntries([...groups].map(([key, items]) => [`key ${key}`, items.length]));
  const was = Object.fromEntries([...found].map(([key, documents]) => [`key ${key}`, documents]));
  return faultText(
    difference(expected, was, "partitions") ?? difference(groups.size, found.size, "terms"),
    body,
  );
}

/** Of terms that shards cut counts may be too small, by their error at most. */
export async function cutTerms(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const field = dice.pick(fieldsOf("root", "keyword"));
  const size = dice.between(1, 5);
  const terms = { field, size, shard_size: size + dice.below(3), show_term_doc_count_error: true };
  const body: Json = { size: 0, query, aggs: { terms: { terms } } };
  const { aggregations } = await index.search(body);
  const {
    buckets,
    sum_other_doc_count: others,
    doc_count_error_upper_bound: most,
  } = aggregations!["terms"] as Terms;
  const groups = grouped(subject.items.filter(fits), (item) => valuesOf(item, field));
  let shown = 0;
  for (const { key, doc_count: count, doc_count_error_upper_bound: error } of buckets) {
    const real = groups.get(key)?.length ?? 0;
    shown += count;
    if (count > real || count + error < real)
      return faultText(`${key} has ${real} documents, not ${count} and ${error}`, body);
    if (error > most) return faultText(`the error of ${key} is above that of all`, body);
  }
  const all = [...groups.values()].reduce((sum, items) => sum + items.length, 0);
  const wanted = subject.shards === 1 ? Math.min(size, groups.size) : undefined;
  return faultText(
    difference(wanted, buckets.length, "terms") ?? difference(all, shown + others, "counts of all"),
    body,
  );
}
