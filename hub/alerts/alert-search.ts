/** Counts the lines that match a rule: now, or in each interval of the past. */

import type { TargetIndex } from "#hub/host/contract/calls.ts";
import type { Found } from "#hub/host/contract/found.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Reach } from "./alert-state.ts";
import { type AlertRule, everyOf, isBroken, windowOf } from "./rule.ts";

/**
 * Returns the indices within `reach` that an expression matches now; none if there is no such index. `isStrict`: throws
 * forbidden if it names one beyond, or if all that it matches are beyond.
 */
export type FindIndices = (expression: string, reach: Reach, isStrict: boolean) => readonly TargetIndex[];

/** What a count may read. Present rights are strict; those of a rule without a writer are all that is known, and aren't. */
export interface CountRights {
  readonly reach: Reach;
  readonly isStrict: boolean;
}

/** The count of a rule at a time in the past. */
export interface PreviewPoint {
  /** ISO time at the end of the window. */
  readonly at: string;
  readonly count: number;
  readonly firing: boolean;
}

/** Maximum number of points of a preview; with longer ranges not every interval is a point. */
const MAX_POINTS = 240;
/** Deadline of a count; the next interval counts again. */
const TIMEOUT_MS = 20_000;

const SEARCH = {
  limits: DEFAULT_LIMITS,
  typedKeys: false,
  objectTotals: false,
  useCache: false,
  nodeId: "",
} as const;

export class AlertSearch {
  readonly #find: FindIndices;
  readonly #shards: Pick<HostedShards, "check" | "search">;

  constructor(find: FindIndices, shards: Pick<HostedShards, "check" | "search">) {
    this.#find = find;
    this.#shards = shards;
  }

  /** Throws parsing, request_invalid if the query of a rule can't be read. */
  async check(query: string): Promise<void> {
    if (query.trim() === "") return;
    await this.#shards.check({ body: { query: linesOf(query) }, limits: DEFAULT_LIMITS });
  }

  /**
   * Counts the lines in the window that ends at `nowMs`; `isStrict` as in FindIndices. Throws what a search throws; a part
   * that failed is a failure.
   */
  async count(rule: AlertRule, { reach, isStrict }: CountRights, nowMs: number): Promise<number> {
    const range = { fromMs: nowMs - windowOf(rule), toMs: nowMs };
    const answer = await this.#search(rule, this.#find(rule.index, reach, isStrict), range, {});
    return answer.total ?? 0;
  }

  /** Returns what the rule would have counted between two times, oldest first. */
  async preview(rule: AlertRule, reach: Reach, fromMs: number, toMs: number): Promise<PreviewPoint[]> {
    const windowMs = windowOf(rule);
    const stepMs = Math.max(everyOf(rule), Math.ceil((toMs - fromMs) / MAX_POINTS));
    const ends: number[] = [];
    for (let atMs = fromMs; atMs <= toMs; atMs += stepMs) ends.push(atMs);
    const ranges = ends.map((atMs) => ({ key: String(atMs), from: atMs - windowMs, to: atMs }));
    const aggs = { windows: { date_range: { field: "@timestamp", format: "epoch_millis", ranges } } };
    const targets = this.#find(rule.index, reach, false);
    const answer = await this.#search(rule, targets, { fromMs: fromMs - windowMs, toMs }, { aggs });
    const { windows = {} } = (answer.aggregations?.parse() ?? {}) as {
      windows?: { buckets?: readonly { readonly key: string; readonly doc_count: number }[] };
    };
    const { buckets = [] } = windows;
    return buckets.map(({ key, doc_count: count }) => ({
      at: new Date(Number(key)).toISOString(),
      count,
      firing: isBroken(rule, count),
    }));
  }

  async #search(
    { query }: AlertRule,
    targets: readonly TargetIndex[],
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
    more: Record<string, unknown>,
  ): Promise<Found> {
    const text = query.trim();
    const must = text === "" || text === "*" ? [] : [linesOf(text)];
    const range = { range: { "@timestamp": { gte: fromMs, lt: toMs, format: "epoch_millis" } } };
    const body = { size: 0, track_total_hits: true, query: { bool: { must, filter: [range] } }, ...more };
    const call = { ...SEARCH, targets, body };
    const answer = await this.#shards.search(call, AbortSignal.timeout(TIMEOUT_MS));
    const failure = answer.shards.failures[0];
    if (failure !== undefined)
      throw new AppError("unavailable", `a shard of ${failure.index} failed: ${failure.error.message}`);
    return answer;
  }
}

function linesOf(query: string): JsonObject {
  return { query_string: { query, type: "cross_fields", default_operator: "AND", lenient: true } };
}
