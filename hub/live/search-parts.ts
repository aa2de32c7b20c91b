/**
 * A search of many indices in parts: the newest indices first, each part with twice as many as the previous one, so that the
 * first hits arrive soon and few requests are needed. Searches whose answers can't be merged run in one piece.
 */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { CallAnswer, RunCall } from "./run-call.ts";

export interface PartedSearch {
  readonly run: RunCall;
  /** An index expression. */
  readonly index: string;
  /** JSON text of the search's body. */
  readonly body: string;
  /** Shortest time between two parts, ms. */
  readonly partMinMs: number;
  readonly signal: AbortSignal;
}

/** Called with the answer so far, JSON text, and the number of indices that it covers. */
export type OnPart = (answer: string, done: number, of: number) => void;

const PARAMETERS = "ignore_unavailable=true&allow_no_indices=true";

/** Runs a search; resolves with its answer. Rejects when `signal` ends it. */
export async function searchInParts(search: PartedSearch, onPart: OnPart): Promise<CallAnswer> {
  const { run, index, body, partMinMs, signal } = search;
  const find = (names: string): Promise<CallAnswer> =>
    run({ method: "POST", path: `/es/${names}/_search?${PARAMETERS}`, body }, signal);
  const joining = joiningOf(body);
  const expression = encodeNames(index);
  if (joining === undefined) return find(expression);
  const names = await indicesOf(run, expression, signal);
  if (names.length < 2) return find(expression);
  let found: SearchAnswer | undefined;
  let sentMs = performance.now();
  for (let done = 0, size = 1; done < names.length; size *= 2) {
    const part = names.slice(done, done + size);
    const answer = await find(part.map(encodeNames).join(","));
    if (answer.status !== 200) return answer;
    const one = JSON.parse(answer.body) as SearchAnswer;
    found = found === undefined ? one : join(found, one, joining);
    done += part.length;
    const isDue = performance.now() - sentMs >= partMinMs;
    if (done >= names.length || !isDue) continue;
    sentMs = performance.now();
    onPart(JSON.stringify(found), done, names.length);
  }
  return { status: 200, body: JSON.stringify(found) };
}

/** Returns the names of the indices of an expression, in descending order: names end with a day. */
async function indicesOf(run: RunCall, expression: string, signal: AbortSignal): Promise<string[]> {
  const { status, body } = await run(
    { method: "GET", path: `/es/${expression}/_search_shards?${PARAMETERS}` },
    signal,
  );
  if (status !== 200) return [];
  const { indices } = JSON.parse(body) as { readonly indices?: Readonly<Record<string, JsonObject>> };
  const found = Object.entries(indices ?? {});
  // The filter of an alias would be lost with its name.
  if (found.some(([, { filter }]) => filter !== undefined)) return [];
  return found.map(([name]) => name).toSorted((a, b) => (a < b ? 1 : -1));
}

function encodeNames(expression: string): string {
  return encodeURIComponent(expression).replaceAll("%2C", ",").replaceAll("%2A", "*");
}

interface Bucket {
  readonly key: string | number;
  readonly doc_count: number;
  readonly levels?: Levels;
}

interface Levels {
  readonly buckets: readonly Bucket[];
  readonly sum_other_doc_count?: number;
  readonly doc_count_error_upper_bound?: number;
}

type Hit = JsonObject & { readonly sort?: readonly unknown[] };

interface SearchAnswer {
  readonly took: number;
  readonly timed_out: boolean;
  readonly _shards: {
    readonly total: number;
    readonly successful: number;
    readonly skipped?: number;
    readonly failed: number;
    readonly failures?: readonly JsonObject[];
  };
  readonly hits: { readonly total: number; readonly max_score: number | null; readonly hits: readonly Hit[] };
  readonly aggregations?: { readonly times: { readonly buckets: readonly Bucket[] } };
}

/** The data needed to merge two answers. */
interface Joining {
  readonly size: number;
  /** By sort value: 1 ascending, -1 descending. */
  readonly directions: readonly (1 | -1)[];
  /** Levels counted in each step of time. */
  readonly levels: number;
}

const DEFAULT_SIZE = 10;
const JOINED_PARTS: ReadonlySet<string> = new Set(["size", "query", "sort", "search_after", "aggs"]);

/** Returns how answers to a body are merged: rows in their sort order, and lines by time and level; undefined for others. */
function joiningOf(text: string): Joining | undefined {
  const body: unknown = JSON.parse(text);
  if (!isObject(body) || Object.keys(body).some((name) => !JOINED_PARTS.has(name))) return undefined;
  const size = typeof body["size"] === "number" ? body["size"] : DEFAULT_SIZE;
  const sort = Array.isArray(body["sort"]) ? (body["sort"] as unknown[]) : [];
  if (size > 0 && sort.length === 0) return undefined;
  const directions = sort.map((one): 1 | -1 => {
    const [order] = isObject(one) ? Object.values(one) : [];
    return isObject(order) && order["order"] === "desc" ? -1 : 1;
  });
  if (body["aggs"] === undefined) return { size, directions, levels: 0 };
  const levels = levelsOf(body["aggs"]);
  return levels === undefined ? undefined : { size, directions, levels };
}

/** Returns the number of levels that are counted; undefined for aggregations other than lines by time and level. */
function levelsOf(aggs: unknown): number | undefined {
  if (!isObject(aggs) || Object.keys(aggs).join() !== "times" || !isObject(aggs["times"])) return undefined;
  const { date_histogram: times, aggs: below } = aggs["times"];
  if (!isObject(times) || times["min_doc_count"] !== 0) return undefined;
  if (below === undefined) return 0;
  const levels = isObject(below) && Object.keys(below).join() === "levels" ? below["levels"] : undefined;
  const terms = isObject(levels) && isObject(levels["terms"]) ? levels["terms"] : undefined;
  return typeof terms?.["size"] === "number" ? terms["size"] : undefined;
}

function join(a: SearchAnswer, b: SearchAnswer, { size, directions, levels }: Joining): SearchAnswer {
  const failures = [...(a._shards.failures ?? []), ...(b._shards.failures ?? [])];
  const hits = [...a.hits.hits, ...b.hits.hits]
    .toSorted((one, other) => compareSorts(one.sort ?? [], other.sort ?? [], directions))
    .slice(0, size);
  const times = joinBuckets(a.aggregations?.times.buckets, b.aggregations?.times.buckets, levels);
  return {
    took: a.took + b.took,
    timed_out: a.timed_out || b.timed_out,
    _shards: {
      total: a._shards.total + b._shards.total,
      successful: a._shards.successful + b._shards.successful,
      skipped: (a._shards.skipped ?? 0) + (b._shards.skipped ?? 0),
      failed: a._shards.failed + b._shards.failed,
      ...(failures.length > 0 && { failures }),
    },
    hits: { total: a.hits.total + b.hits.total, max_score: null, hits },
    ...(times !== undefined && { aggregations: { times: { buckets: times } } }),
  };
}

/** Missing values come last in either direction. */
function compareSorts(a: readonly unknown[], b: readonly unknown[], directions: readonly (1 | -1)[]): number {
  for (const [at, direction] of directions.entries()) {
    const [x, y] = [a[at] ?? null, b[at] ?? null];
    if (x === y) continue;
    if (x === null) return 1;
    if (y === null) return -1;
    return (x as number) < (y as number) ? -direction : direction;
  }
  return 0;
}

function joinBuckets(
  a: readonly Bucket[] | undefined,
  b: readonly Bucket[] | undefined,
  levels: number,
): Bucket[] | undefined {
  if (a === undefined || b === undefined) return a === undefined ? b?.slice() : a.slice();
  const byKey = new Map(a.map((bucket) => [bucket.key, bucket]));
  for (const bucket of b) {
    const known = byKey.get(bucket.key);
    byKey.set(bucket.key, known === undefined ? bucket : joinBucket(known, bucket, levels));
  }
  return [...byKey.values()].toSorted((one, other) => Number(one.key) - Number(other.key));
}

function joinBucket(a: Bucket, b: Bucket, levels: number): Bucket {
  const joined = { ...a, doc_count: a.doc_count + b.doc_count };
  if (a.levels === undefined || b.levels === undefined) return joined;
  const counts = new Map(a.levels.buckets.map(({ key, doc_count }) => [key, doc_count]));
  for (const { key, doc_count } of b.levels.buckets) counts.set(key, (counts.get(key) ?? 0) + doc_count);
  const buckets = [...counts]
    .map(([key, doc_count]) => ({ key, doc_count }))
    .toSorted((x, y) => y.doc_count - x.doc_count || (x.key < y.key ? -1 : 1))
    .slice(0, levels);
  return { ...joined, levels: { buckets } };
}
