/** Compares the answers of an index with a naive evaluation of its documents. */

import assert from "node:assert/strict";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import type { Random } from "#test/support/engine/random.ts";
import { contents } from "#test/support/engine/shard.ts";
import { type Json, keywords, NUMBER_FIELDS, numbers } from "./engine-model.ts";
import type { Question } from "./engine-queries.ts";
import { ask, askSnapshot, type Documents, type Subject } from "./engine-under-test.ts";

const MAX_HITS = 10_000;

/** An old snapshot: whatever is changed, merged and written afterwards, it must answer for the documents of its time. */
export class Held {
  readonly #searcher: Searcher;
  readonly #documents: Documents;

  constructor(subject: Subject) {
    subject.shard.refresh();
    this.#searcher = subject.shard.searcher();
    this.#documents = new Map(subject.documents);
  }

  async check({ query, fits }: Question): Promise<void> {
    const { hits } = await askSnapshot(this.#searcher, { query, size: MAX_HITS });
    const fitting = [...this.#documents].filter(([id, document]) => fits(document, id));
    const expected = fitting.map(([id]) => id).sort();
    assert.deepEqual(hits.map((hit) => String(hit["_id"])).sort(), expected, "hits of an old snapshot");
  }

  close(): void {
    this.#searcher.close();
  }
}

/** Reads every document back: byte for byte, or as JSON where it was updated. */
export function checkSources(subject: Subject): void {
  const found = contents(subject.shard.searcher());
  assert.deepEqual([...found.keys()].sort(), [...subject.documents.keys()].sort(), "documents");
  for (const [id, text] of found) {
    const sent = subject.texts.get(id);
    if (sent !== undefined) assert.equal(text, sent, `source of ${id}`);
    else assert.deepEqual(JSON.parse(text), subject.documents.get(id), `source of ${id}`);
  }
}

/** Asks for hits, counts, an order and aggregations, and compares each with what the documents say. */
export async function check(subject: Subject, question: Question, random: Random): Promise<void> {
  const { query } = question;
  const fitting = [...subject.documents].filter(([id, document]) => question.fits(document, id));
  const all = await ask(subject.shard, { query, size: MAX_HITS });
  const found = all.hits.map((hit) => String(hit["_id"])).sort();
  assert.deepEqual(found, fitting.map(([id]) => id).sort(), "hits");
  assert.equal(all.total, fitting.length);
  const scores = all.hits.map((hit) => hit["_score"]);
  const top = await ask(subject.shard, { query, size: 7 });
  assert.equal(top.total, fitting.length);
  assert.deepEqual(
    top.hits.map((hit) => hit["_score"]),
    scores.slice(0, 7),
    "the best by score",
  );
  assert.equal((await ask(subject.shard, { query, size: 0 })).total, fitting.length, "count");
  await checkOrder(subject, query, fitting, random);
  await checkAggregations(subject, query, fitting);
}

type Fitting = readonly (readonly [string, Json])[];

async function checkOrder(subject: Subject, query: Json, fitting: Fitting, random: Random): Promise<void> {
  const field = random.pick([...NUMBER_FIELDS, "t"]);
  const isDown = random.oneIn(2);
  const size = 1 + random.below(12);
  const { hits } = await ask(subject.shard, { query, size, sort: [{ [field]: isDown ? "desc" : "asc" }] });
  const keys = fitting.map(([, document]) => {
    const own = numbers(document, field);
    return (isDown ? own.at(-1) : own[0]) ?? (isDown ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  });
  keys.sort((a, b) => (isDown ? b - a : a - b));
  const actual = hits.map((hit) => {
    const value = (hit["sort"] as unknown[])[0];
    if (typeof value === "number") return value;
    return isDown ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  });
  assert.deepEqual(actual, keys.slice(0, size), `by ${field} ${isDown ? "desc" : "asc"}`);
}

async function checkAggregations(subject: Subject, query: Json, fitting: Fitting): Promise<void> {
  const names = { terms: { field: "parts.name", size: 1000, order: { _key: "asc" } } };
  const { aggregations } = await ask(subject.shard, {
    query,
    size: 0,
    aggs: {
      k: {
        terms: { field: "k", size: 1000, order: { _key: "asc" } },
        aggs: { n: { stats: { field: "n" } } },
      },
      hours: { date_histogram: { field: "t", interval: "hour", min_doc_count: 1 }, aggs: { names } },
      tens: { histogram: { field: "n", interval: 10, min_doc_count: 1 } },
      n: { stats: { field: "n" } },
      none: { missing: { field: "f" } },
    },
  });
  assert.deepEqual(
    counts(aggregations, "k"),
    counted(fitting, (doc) => keywords(doc, "k")),
    "terms",
  );
  for (const bucket of buckets(aggregations, "k")) {
    const inside = fitting.filter(([, doc]) => keywords(doc, "k").includes(String(bucket["key"])));
    checkStats(bucket, inside, "stats below");
  }
  const hourOf = (doc: Json): number[] => numbers(doc, "t").map((ms) => Math.floor(ms / HOUR_MS) * HOUR_MS);
  assert.deepEqual(counts(aggregations, "hours"), counted(fitting, hourOf), "date_histogram");
  for (const bucket of buckets(aggregations, "hours")) {
    const inside = fitting.filter(([, doc]) => hourOf(doc).includes(Number(bucket["key"])));
    assert.deepEqual(
      counts(bucket, "names"),
      counted(inside, (doc) => keywords(doc, "parts.name")),
      "terms below",
    );
  }
  const tenOf = (doc: Json): number[] => numbers(doc, "n").map((value) => Math.floor(value / 10) * 10);
  assert.deepEqual(counts(aggregations, "tens"), counted(fitting, tenOf), "histogram");
  checkStats(aggregations, fitting, "stats");
  const without = fitting.filter(([, doc]) => numbers(doc, "f").length === 0).length;
  assert.equal((aggregations!["none"] as Json)["doc_count"], without, "missing");
}

function checkStats(parent: Json | undefined, documents: Fitting, what: string): void {
  const all = documents.flatMap(([, doc]) => numbers(doc, "n"));
  const stats = parent!["n"] as Json;
  assert.equal(stats["count"], all.length, what);
  const sum = all.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(Number(stats["sum"]) - sum) <= 1e-9 * (1 + Math.abs(sum)), `${what}: ${sum}`);
  assert.equal(stats["min"], all.length === 0 ? null : all.reduce((a, b) => Math.min(a, b)), what);
  assert.equal(stats["max"], all.length === 0 ? null : all.reduce((a, b) => Math.max(a, b)), what);
}

function buckets(parent: Json | undefined, name: string): Json[] {
  return (parent![name] as { readonly buckets: Json[] }).buckets;
}

function counts(parent: Json | undefined, name: string): [string, unknown][] {
  return buckets(parent, name)
    .map(({ key, doc_count: count }): [string, unknown] => [String(key), count])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Documents by key; each counts once for a key. */
function counted(
  documents: Fitting,
  keysOf: (document: Json) => readonly (string | number)[],
): [string, unknown][] {
  const counts = new Map<string, number>();
  for (const [, document] of documents) {
    for (const key of new Set(keysOf(document))) counts.set(String(key), (counts.get(String(key)) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}
