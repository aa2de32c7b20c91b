/** What the benchmark `access` asks, and how many documents the generator says are the answer. */

import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import type { CorpusDocument } from "./log-corpus.ts";

type Json = Record<string, unknown>;
/** The fields of a document. */
export type Fields = Readonly<Record<string, string | number>>;

/** A question; the answer is a number of documents, or counts by value. */
export interface AccessCase {
  readonly name: string;
  /** CPU-milliseconds that the best of the other stores takes for 500,000 documents. */
  readonly peerMs?: number;
  readonly body: Json;
  /** What a document counts as: undefined for one that isn't in the answer. */
  readonly keyOf: (fields: Fields) => unknown;
  /** Counts compared, the largest first; otherwise their sum with the total of the hits. */
  readonly top?: number;
  /** Compares the number of values, which is estimated. */
  readonly isEstimate?: boolean;
}

const word = (query: string): Json => ({ match: { message: query } });
const words = (text: string): string[] => text.toLowerCase().split(/[^a-z0-9.]+/);
const has =
  (wanted: string) =>
  ({ message }: Fields): unknown =>
    words(String(message)).includes(wanted) || undefined;
const hour = (fields: Fields): number => Math.floor(Date.parse(String(fields["@timestamp"])) / HOUR_MS);
const byHour = { date_histogram: { field: "@timestamp", interval: "hour" } };
const terms = (field: string, size: number): Json => ({ terms: { field, size } });

export const ACCESS_CASES: readonly AccessCase[] = [
  {
    name: "newest 50 with a word",
    peerMs: 2,
    body: { size: 50, query: word("cart"), sort: [{ "@timestamp": "desc" }] },
    keyOf: has("cart"),
  },
  {
    name: "word AND status",
    peerMs: 1,
    body: { query: { bool: { must: [word("cart")], filter: [{ term: { status: 404 } }] } } },
    keyOf: (fields) => (fields["status"] === 404 ? has("cart")(fields) : undefined),
  },
  {
    name: "phrase",
    peerMs: 1,
    body: { query: { match_phrase: { message: "cart order" } } },
    keyOf: ({ path }) => String(path).startsWith("/cart/order/") || undefined,
  },
  {
    name: "prefix",
    peerMs: 1,
    body: { query: { prefix: { path: "/cart/o" } } },
    keyOf: ({ path }) => String(path).startsWith("/cart/o") || undefined,
  },
  {
    name: "substring",
    peerMs: 15,
    body: { query: { wildcard: { path: "*rt/ord*" } } },
    keyOf: ({ path }) => String(path).includes("rt/ord") || undefined,
  },
  {
    name: "NOT",
    peerMs: 1,
    body: { query: { bool: { must_not: [word("curl")] } } },
    keyOf: (fields) => (has("curl")(fields) === true ? undefined : true),
  },
  { name: "rare word", peerMs: 1, body: { query: word("3a1") }, keyOf: has("3a1") },
  {
    name: "count by level",
    peerMs: 1,
    body: { size: 0, aggs: { by: terms("level", 10) } },
    keyOf: ({ level }) => level,
    top: 3,
  },
  { name: "histogram by hour", peerMs: 6, body: { size: 0, aggs: { by: byHour } }, keyOf: hour, top: 24 },
  {
    name: "histogram × level",
    peerMs: 13,
    body: { size: 0, aggs: { by: { ...byHour, aggs: { level: terms("level", 10) } } } },
    keyOf: hour,
    top: 24,
  },
  {
    name: "top 20 of 5,000 paths",
    peerMs: 3,
    body: { size: 0, aggs: { by: terms("path", 20) } },
    keyOf: ({ path }) => path,
    top: 20,
  },
  {
    name: "top 20 of 50,000 addresses",
    peerMs: 9,
    body: { size: 0, aggs: { by: terms("client", 20) } },
    keyOf: ({ client }) => client,
    top: 20,
  },
  {
    name: "unique addresses",
    peerMs: 11,
    body: { size: 0, aggs: { by: { cardinality: { field: "client" } } } },
    keyOf: ({ client }) => client,
    isEstimate: true,
  },
];

/** Counts what the answers have to be, document by document. */
export class ExpectedAnswers {
  readonly #counts = ACCESS_CASES.map(() => new Map<unknown, number>());

  add({ json }: CorpusDocument): void {
    const fields = JSON.parse(json) as Fields;
    for (const [number, { keyOf }] of ACCESS_CASES.entries()) {
      const key = keyOf(fields);
      if (key === undefined) continue;
      const counts = this.#counts[number]!;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }

  /** By case: a total, the largest counts, or how many values there are. */
  all(): unknown[] {
    return ACCESS_CASES.map(({ top, isEstimate }, number) => {
      const counts = [...this.#counts[number]!.values()].sort((a, b) => b - a);
      if (isEstimate === true) return counts.length;
      return top === undefined ? counts.reduce((sum, count) => sum + count, 0) : counts.slice(0, top);
    });
  }
}

/** What a response says, as `ExpectedAnswers` does. */
export function answerOf({ top, isEstimate }: AccessCase, response: SearchResponse): unknown {
  const by = response.aggregations?.["by"] as { buckets: { doc_count: number }[]; value: number } | undefined;
  if (by === undefined) return response.total;
  if (isEstimate === true) return by.value;
  return by.buckets
    .map((bucket) => bucket.doc_count)
    .sort((a, b) => b - a)
    .slice(0, top);
}
