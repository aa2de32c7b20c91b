/** `bucket_script` computes a number from others of a bucket; `bucket_selector` keeps the buckets for which a script is true. */

import { readScript, type Script } from "#hub/scripts/script.ts";
import { toDouble, truth } from "#hub/scripts/values/operators.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  type Bucket,
  type BucketPath,
  type GapPolicy,
  MAX_SCRIPT_STEPS,
  PIPELINE_OPTIONS,
  type PipelineType,
  parsePath,
  simpleValue,
  valueAt,
} from "#hub/search/aggregations/tree/pipeline.ts";
import { formatOf } from "#hub/search/columns/value-format.ts";
import { anything, required } from "#hub/search/options/options.ts";
import { isObject } from "#proto/kit/json.ts";

const OPTIONS = {
  ...PIPELINE_OPTIONS,
  script: required(anything("Painless with the numbers of buckets_path as params")),
} as const;

type Paths = readonly (readonly [name: string, path: BucketPath])[];

export const bucketScript: PipelineType = {
  name: "bucket_script",
  summary: "A number that a script computes from others of the bucket.",
  options: OPTIONS,
  parse(body, name) {
    const read = readAggregation("bucket_script", body, OPTIONS);
    const paths = readPaths(read.buckets_path, name);
    const script = readScript(read.script, ["params"], { expressions: "number", hasLateParams: true });
    const format = formatOf(undefined, read.format);
    return {
      place: "parent",
      reads: firstNames(paths),
      typedName: "simple_value",
      *apply(buckets, put) {
        for (const bucket of buckets) {
          yield;
          const params = paramsOf(bucket, paths, script, read.gap_policy);
          const value = params === undefined ? null : script.compiled.run([params], MAX_SCRIPT_STEPS);
          if (value === null) continue;
          put(bucket, simpleValue(toDouble(value), format));
        }
        return buckets;
      },
    };
  },
};

export const bucketSelector: PipelineType = {
  name: "bucket_selector",
  summary: "Keeps the buckets for which a script is true.",
  options: OPTIONS,
  parse(body, name) {
    const read = readAggregation("bucket_selector", body, OPTIONS);
    const paths = readPaths(read.buckets_path, name);
    const script = readScript(read.script, ["params"], { expressions: "condition", hasLateParams: true });
    return {
      place: "parent",
      reads: firstNames(paths),
      typedName: "bucket_selector",
      *apply(buckets) {
        const kept: Bucket[] = [];
        for (const bucket of buckets) {
          yield;
          const params = paramsOf(bucket, paths, script, read.gap_policy);
          if (params === undefined) continue;
          if (truth(script.compiled.run([params], MAX_SCRIPT_STEPS))) kept.push(bucket);
        }
        return kept;
      },
    };
  },
};

/** Reads `{"total": "sales>sum"}`, a list or one path, which are called _value0 and so on. */
function readPaths(given: unknown, owner: string): Paths {
  if (isObject(given)) return Object.entries(given).map(([name, path]) => [name, parsePath(path, owner)]);
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((path, at) => [list.length === 1 ? "_value" : `_value${at}`, parsePath(path, owner)]);
}

function firstNames(paths: Paths): string[] {
  return paths.flatMap(([, { names }]) => names.slice(0, 1));
}

/** Returns the script's params with the bucket's numbers; undefined if one is missing and gaps are skipped. */
function paramsOf(
  bucket: Bucket,
  paths: Paths,
  { params }: Script,
  gaps: GapPolicy,
): Record<string, unknown> | undefined {
  const found: Record<string, unknown> = { ...params };
  for (const [name, path] of paths) {
    const value = valueAt(bucket, path, gaps);
    if (Number.isNaN(value)) return undefined;
    found[name] = new Decimal(value);
  }
  return found;
}
