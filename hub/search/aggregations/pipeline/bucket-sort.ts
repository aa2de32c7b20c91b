/** `bucket_sort`: buckets in another order, cut to a page. */

import { readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  type Bucket,
  type BucketPath,
  type PipelineType,
  parsePath,
  valueAt,
} from "#hub/search/aggregations/tree/pipeline.ts";
import { anything, integer, oneOf } from "#hub/search/options/options.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

const OPTIONS = {
  sort: anything('paths to order by: [{"sales": {"order": "desc"}}]'),
  from: integer("buckets to skip", 0),
  size: integer("buckets to keep; all without it", undefined, 1),
  gap_policy: oneOf("what an empty bucket counts as", ["skip", "insert_zeros"], "skip"),
} as const;

interface Key {
  readonly path: BucketPath;
  readonly descending: boolean;
}

export const bucketSort: PipelineType = {
  name: "bucket_sort",
  summary: "Orders the buckets of the aggregation above and cuts them to a page.",
  options: OPTIONS,
  parse(body, name) {
    const options = readAggregation("bucket_sort", body, OPTIONS);
    const given: unknown[] = Array.isArray(options.sort)
      ? options.sort
      : options.sort === undefined
        ? []
        : [options.sort];
    const keys = given.flatMap((each) => readKeys(each, name));
    const from = options.from ?? 0;
    if (keys.length === 0 && from === 0 && options.size === undefined)
      throw new AppError(
        "request_invalid",
        `[${name}] is configured to perform nothing. Please set either of [sort, size, from] to use bucket_sort`,
      );
    const end = options.size === undefined ? undefined : from + options.size;
    return {
      place: "parent",
      reads: keys.flatMap(({ path }) => path.names.slice(0, 1)),
      typedName: "bucket_sort",
      apply: (buckets) => sorted(buckets, keys, options.gap_policy ?? "skip").slice(from, end),
    };
  },
};

function readKeys(json: unknown, name: string): Key[] {
  if (typeof json === "string") return [{ path: parsePath(json, name), descending: false }];
  if (!isObject(json))
    throw new AppError(
      "parsing",
      `[${name}] [sort] must hold paths or objects such as {"sales": {"order": "desc"}}`,
    );
  return Object.entries(json).map(([path, how]) => {
    const order: unknown = isObject(how) ? how["order"] : how;
    if (order !== undefined && order !== "asc" && order !== "desc")
      throw new AppError(
        "parsing",
        `[${name}] [sort] order must be asc or desc, but is [${valueText(order)}]`,
      );
    return { path: parsePath(path, name), descending: order === "desc" };
  });
}

/** Buckets without any of the numbers are left out, those without one of them come last. */
function sorted(buckets: readonly Bucket[], keys: readonly Key[], gaps: "skip" | "insert_zeros"): Bucket[] {
  if (keys.length === 0) return [...buckets];
  const rows = buckets.map((bucket) => ({
    bucket,
    values: keys.map(({ path }) => keyValue(bucket, path, gaps)),
  }));
  const wanted = rows.filter(({ values }) =>
    values.some((value) => typeof value === "string" || !Number.isNaN(value)),
  );
  wanted.sort((a, b) => {
    for (const [at, { descending }] of keys.entries()) {
      const compared = compare(a.values[at]!, b.values[at]!, descending);
      if (compared !== 0) return compared;
    }
    return 0;
  });
  return wanted.map(({ bucket }) => bucket);
}

function keyValue(bucket: Bucket, path: BucketPath, gaps: "skip" | "insert_zeros"): number | string {
  const { key } = bucket;
  if (path.names.length === 1 && path.names[0] === "_key" && typeof key === "string") return key;
  return valueAt(bucket, path, gaps);
}

function compare(a: number | string, b: number | string, descending: boolean): number {
  const [aMissing, bMissing] = [Number.isNaN(a), Number.isNaN(b)];
  if (aMissing || bMissing) return Number(aMissing) - Number(bMissing);
  return (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
}
