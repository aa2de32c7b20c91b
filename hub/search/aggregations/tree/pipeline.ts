/**
 * Pipeline aggregations work on the rendered buckets of other aggregations. A parent pipeline is defined below a
 * histogram and changes its buckets; a sibling is defined beside an aggregation and reduces its buckets to one result.
 */

import { printValue, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { anything, type Options, oneOf, text } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction, NumberText } from "#proto/kit/number-text.ts";
import type { Steps } from "./steps.ts";

/** A rendered bucket. */
export type Bucket = JsonObject;

/** What a pipeline aggregation makes of rendered buckets. */
export type Pipeline =
  | {
      readonly place: "parent";
      /** Names below that it reads; those that are pipelines come first. */
      readonly reads: readonly string[];
      /** Returns the buckets with what it adds to them; they may be changed in place. */
      apply(
        buckets: Bucket[],
        put: (bucket: Bucket, answer: JsonObject) => void,
        after: BucketAfter | undefined,
      ): Bucket[] | Steps<Bucket[]>;
      readonly typedName: string;
    }
  | {
      readonly place: "sibling";
      readonly reads: readonly string[];
      /** `values`: numbers of the buckets that have one, with the buckets' keys. */
      summarise(values: readonly KeyedValue[]): JsonObject;
      readonly path: BucketPath;
      readonly gaps: GapPolicy;
      readonly typedName: string;
    };

/** Steps of one run of a pipeline's script, a few milliseconds; other work runs between two of them. */
export const MAX_SCRIPT_STEPS = 25_000;

/** Makes and counts the empty bucket of a histogram that follows one with that key. Throws too_many_buckets. */
export type BucketAfter = (key: number) => Bucket;

export interface KeyedValue {
  readonly key: string;
  readonly value: number;
}

/** A pipeline by its name in the request. */
export interface NamedPipeline {
  readonly name: string;
  /** Key in the request. */
  readonly type: string;
  readonly pipeline: Pipeline;
  readonly meta: JsonObject | undefined;
}

export type GapPolicy = "skip" | "insert_zeros";

/** Options of all of them. */
export const PIPELINE_OPTIONS = {
  buckets_path: anything("which number of the buckets: sales>sum, stats.max, percentiles[99], _count"),
  gap_policy: oneOf("what an empty bucket counts as", ["skip", "insert_zeros"], "skip"),
  format: text("format of the printed value", undefined),
} as const;

/**
 * Path to a number: aggregations, one below the other, then a part of the last. A name in quotes is the key of a bucket of the
 * aggregation before it.
 */
export interface BucketPath {
  readonly names: readonly string[];
  /** "" for the only number. */
  readonly part: string;
}

/** A step of a path, whose keys in brackets may hold any characters. */
const STEP = /(?:[^>[]|\[(?:'[^']*'|[^\]]*)\])+/g;
/** A step that selects a bucket by its key. */
const KEYED = /^([^.[]+)\[('[^']*')\]$/;
/** The last step: an aggregation, with a part of its answer after a dot or in brackets. */
const LAST = /^([^.[]+)(?:\.(.+)|\[(.+)\])?$/;

/** Reads `a>b.value`, `a>b[99]`, `a['key']>b`. Throws parsing. */
export function parsePath(given: unknown, owner: string): BucketPath {
  const [text] = Array.isArray(given) ? (given as unknown[]) : [given];
  if (typeof text !== "string" || text === "")
    throw new AppError(
      "parsing",
      `Required one of fields [buckets_path], but none were specified. [${owner}]`,
      {
        data: { type: "parsing_exception" },
      },
    );
  const steps = text.match(STEP) ?? [];
  const names = steps.flatMap((step) => KEYED.exec(step)?.slice(1) ?? step);
  const name = names.pop() ?? "";
  const [, last, part, listed] = name.startsWith("'") ? [name, name] : (LAST.exec(name) ?? []);
  if (last === undefined || text.replaceAll(STEP, "") !== ">".repeat(steps.length - 1))
    throw new AppError("parsing", `[${owner}] [buckets_path] can't be read: [${text}]`);
  return { names: [...names, last], part: (part ?? listed ?? "").replace(/^"|"$/g, "") };
}

/** Returns the number of a bucket at a path; NaN if it has none. Empty buckets count as the policy says. */
export function valueAt(bucket: Bucket, path: BucketPath, gaps: GapPolicy): number {
  const [first] = path.names;
  if (path.names.length === 1 && first === "_count") return Number(bucket["doc_count"]);
  if (path.names.length === 1 && first === "_key") return Number(bucket["key"]);
  let at: unknown = bucket;
  for (const [depth, name] of path.names.entries()) {
    if (name === "_bucket_count" && isObject(at)) return bucketsOf(at).length;
    if (name === "_count" && isObject(at)) return Number(at["doc_count"]);
    if (isObject(at) && "buckets" in at) {
      if (!name.startsWith("'")) throw noNumber("Object[]", path.names[depth - 1]!);
      at = bucketOf(at, name.slice(1, -1));
    } else at = isObject(at) ? childOf(at, name) : undefined;
  }
  if (path.part === "") checkSingle(at, path.names.at(-1)!);
  const value = bucket["doc_count"] === 0 ? Number.NaN : partOf(at, path.part);
  if (Number.isFinite(value)) return value;
  return gaps === "insert_zeros" ? 0 : Number.NaN;
}

/** Throws aggregation_failed if an answer isn't a single number. */
function checkSingle(answer: unknown, name: string): void {
  if (!isObject(answer)) return;
  if ("buckets" in answer) throw noNumber(bucketsClass(bucketsOf(answer)), name);
  if (name.startsWith("'")) throw noNumber("InternalBucket", name);
  if (!("values" in answer) || "value" in answer || "doc_count" in answer) return;
  throw new AppError(
    "aggregation_failed",
    `buckets_path must reference either a number value or a single value numeric metric aggregation, but [${name}] contains multiple values. Please specify which to use.`,
  );
}

function noNumber(got: string, name: string): AppError {
  return new AppError(
    "aggregation_failed",
    `buckets_path must reference either a number value or a single value numeric metric aggregation, got: [${got}] at aggregation [${name}]`,
  );
}

/** The name that messages have for an aggregation with such buckets. */
function bucketsClass([first]: readonly Bucket[]): string {
  if (first === undefined) return "UnmappedTerms";
  if (first["key"] instanceof NumberText)
    return first["key_as_string"] === undefined ? "DoubleTerms" : "InternalHistogram";
  if (typeof first["key"] !== "number") return "StringTerms";
  if (first["key_as_string"] !== undefined) return "InternalDateHistogram";
  return Number.isInteger(first["key"]) ? "LongTerms" : "DoubleTerms";
}

/** The answer of an aggregation below, whatever type typed_keys put before its name. */
export function childOf(bucket: JsonObject, name: string): unknown {
  if (Object.hasOwn(bucket, name)) return bucket[name];
  const typed = Object.keys(bucket).find((key) => key.endsWith(`#${name}`));
  return typed === undefined ? undefined : bucket[typed];
}

/** Buckets of a rendered aggregation; those of a keyed one in their order. */
export function bucketsOf(answer: JsonObject): Bucket[] {
  const { buckets } = answer;
  if (Array.isArray(buckets)) return buckets as Bucket[];
  return isObject(buckets) ? (Object.values(buckets) as Bucket[]) : [];
}

/** The bucket of a key; undefined if there is none. */
function bucketOf(answer: JsonObject, key: string): Bucket | undefined {
  const { buckets } = answer;
  if (isObject(buckets)) return Object.hasOwn(buckets, key) ? (buckets[key] as Bucket) : undefined;
  return bucketsOf(answer).find((bucket) => String(bucket["key_as_string"] ?? bucket["key"]) === key);
}

/** The answer of a number; null if there is none. */
export function simpleValue(value: number, format: ValueFormat): JsonObject {
  if (!Number.isFinite(value)) return { value: null };
  const printed = printValue(format, value);
  return { value: fraction(value), ...(printed === undefined ? {} : { value_as_string: printed }) };
}

/** Of no numbers stats print no sum until 7.0. It is 0 for pipelines nevertheless. */
const SUMS: ReadonlySet<string> = new Set(["sum", "sum_of_squares"]);

function partOf(answer: unknown, part: string): number {
  if (!isObject(answer)) return Number.NaN;
  if (part === "_count") return Number(answer["doc_count"]);
  if (part === "_bucket_count") return bucketsOf(answer).length;
  if (part === "" || part === "value") {
    const plain = answer["value"] ?? answer["doc_count"];
    return plain === null || plain === undefined ? Number.NaN : Number(plain);
  }
  const values = answer["values"];
  if (isObject(values)) return Number(values[part] ?? values[doubleText(Number(part))] ?? Number.NaN);
  if (Array.isArray(values)) {
    const found = (values as JsonObject[]).find(({ key }) => Number(key) === Number(part));
    return Number(found?.["value"] ?? Number.NaN);
  }
  const value = answer[part];
  if (value === null && answer["count"] === 0 && SUMS.has(part)) return 0;
  return value === null || value === undefined ? Number.NaN : Number(value);
}

export interface PipelineType {
  /** Key in the request. */
  readonly name: string;
  /** One sentence for the reference. */
  readonly summary: string;
  readonly options: Options;
  /** `name`: that of the request, for messages. Throws parsing, request_invalid. */
  parse(body: unknown, name: string): Pipeline;
}
