/** The option `order`: by count, key, or a metric below. */

import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import type { AggregationTree, TreeState } from "./aggregation.ts";

export interface BucketOrder {
  readonly by: "count" | "key" | "metric";
  /** Name of the aggregation below, by "metric". */
  readonly name: string;
  /** Its number, "" for the only one; `>` and a path for one of an aggregation below it. */
  readonly part: string;
  readonly descending: boolean;
}

/** Anything with the numbers that buckets are ordered by. */
export interface Orderable {
  readonly key: string | number;
  readonly count: number;
  readonly below: TreeState;
}

/** Orders of a request, in the order they count. Throws parsing. */
export function readOrder(json: unknown, owner: string): BucketOrder[] {
  if (json === undefined || json === null) return [];
  return (Array.isArray(json) ? json : [json]).flatMap((each: unknown) => {
    if (!isObject(each))
      throw new AppError("parsing", `[${owner}] [order] must be an object such as {"_count": "desc"}`);
    return Object.entries(each).map(([key, direction]) => readOne(key, direction, owner));
  });
}

/** Throws request_invalid if an order names no metric below. */
export function checkOrder(order: readonly BucketOrder[], below: AggregationTree, owner: string): void {
  for (const { by, name, part } of order) {
    if (by !== "metric") continue;
    const target = below.get(name)?.aggregation;
    if (target === undefined) {
      throw new AppError(
        "request_invalid",
        `Invalid aggregator order path [${name}]. Unknown aggregation [${name}] below [${owner}]`,
      );
    }
    if (target.metric?.(target.empty(), part) === undefined) {
      throw new AppError(
        "request_invalid",
        `Invalid aggregation order path [${part === "" ? name : `${name}.${part}`}]: it has no single number to order by`,
      );
    }
  }
}

/**
 * Returns the order of buckets of terms, of the aggregation `name` of a type; the most frequent first without one. Throws
 * parsing, request_invalid.
 */
export function orderOfTerms(
  json: unknown,
  type: string,
  name: string,
  below: AggregationTree,
): BucketOrder[] {
  const given = readOrder(json, type);
  const order = given.length > 0 ? given : readOrder({ _count: "desc" }, type);
  checkOrder(order, below, name);
  return order;
}

/** Returns the comparison of buckets; equal ones are ordered by their keys. */
export function compareBuckets(
  order: readonly BucketOrder[],
  below: AggregationTree,
): (a: Orderable, b: Orderable) => number {
  return (a, b) => {
    for (const each of order) {
      const result = compareBy(each, a, b, below);
      if (result !== 0) return result;
    }
    return compareKeys(a.key, b.key);
  };
}

/** Compares keys: numbers by size, text by code points. */
export function compareKeys(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return compareText(String(a), String(b));
}

/** Compares keys of numbers, of which those beyond 2^53 are their digits. */
export function compareNumberKeys(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [exactKey(a), exactKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function exactKey(key: string | number): number | bigint {
  return typeof key === "number" ? key : BigInt(key);
}

/** Compares text by code points. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return placeOf(left) - placeOf(right);
  }
  return a.length - b.length;
}

/** Rank of a UTF-16 unit: surrogates, which encode characters beyond 16 bits, come last. */
function placeOf(unit: number): number {
  return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function compareBy(order: BucketOrder, a: Orderable, b: Orderable, below: AggregationTree): number {
  const sign = order.descending ? -1 : 1;
  if (order.by === "count") return sign * (a.count - b.count);
  if (order.by === "key") return sign * compareKeys(a.key, b.key);
  const aggregation = below.get(order.name)!.aggregation;
  const number = (bucket: Orderable): number =>
    aggregation.metric?.(bucket.below[order.name] ?? aggregation.empty(), order.part) ?? Number.NaN;
  return compareMetrics(number(a), number(b), order.descending);
}

/** Compares metrics of buckets. One that isn't a number comes last, also in descending order. */
export function compareMetrics(a: number, b: number, descending: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  if (a === b) return 0;
  return a < b === descending ? 1 : -1;
}

/** Returns a number of an aggregation below a bucket by its path, which begins with `>`. */
export function metricBelow(path: string, below: AggregationTree, state: TreeState): number | undefined {
  const [, name = "", dotted, bracketed, deeper] = /^>([^.[>]+)(?:\.(.+)|\[(.+)\]|(>.+))?$/.exec(path) ?? [];
  const aggregation = below.get(name)?.aggregation;
  return aggregation?.metric?.(state[name] ?? aggregation.empty(), dotted ?? bracketed ?? deeper ?? "");
}

function readOne(key: string, direction: unknown, owner: string): BucketOrder {
  if (direction !== "asc" && direction !== "desc") {
    throw new AppError(
      "parsing",
      `Unknown order direction [${String(direction)}] in [${owner}]; write asc or desc`,
    );
  }
  const descending = direction === "desc";
  if (key === "_count") return { by: "count", name: "", part: "", descending };
  if (key === "_term" || key === "_time")
    warnDeprecated(`Deprecated aggregation order key [${key}] used, replaced by [_key]`);
  if (key === "_key" || key === "_term" || key === "_time")
    return { by: "key", name: "", part: "", descending };
  const match = /^([^.[>]+)(?:\.(.+)|\[(.+)\]|(>.+))?$/.exec(key);
  const part = match?.[2] ?? match?.[3] ?? match?.[4] ?? "";
  return { by: "metric", name: match?.[1] ?? key, part, descending };
}
