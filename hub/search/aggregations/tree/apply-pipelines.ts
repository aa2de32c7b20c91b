/** Runs pipeline aggregations over rendered buckets. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { NumberText } from "#proto/kit/number-text.ts";
import {
  type Bucket,
  type BucketAfter,
  type BucketPath,
  bucketsOf,
  childOf,
  type KeyedValue,
  type NamedPipeline,
  type Pipeline,
  valueAt,
} from "./pipeline.ts";
import { isSteps, type Steps } from "./steps.ts";

type Sibling = Extract<Pipeline, { place: "sibling" }>;

/** Returns an aggregation's answer after the pipelines below it. `after`: makes the buckets beyond its last one. */
export function* applyParents(
  answer: JsonObject,
  pipelines: readonly NamedPipeline[],
  typedKeys: boolean,
  after?: BucketAfter,
): Steps<JsonObject> {
  let buckets = bucketsOf(answer);
  for (const { name, pipeline, meta } of pipelines) {
    if (pipeline.place !== "parent") continue;
    const key = typedKeys ? `${pipeline.typedName}#${name}` : name;
    const put = (bucket: Bucket, value: JsonObject): void => {
      bucket[key] = { ...(meta === undefined ? {} : { meta }), ...value };
    };
    const made = pipeline.apply(buckets, put, after);
    buckets = isSteps(made) ? yield* made : made;
  }
  if (Array.isArray(answer["buckets"])) return { ...answer, buckets };
  const names = new Map(
    Object.entries(answer["buckets"] as JsonObject).map(([key, bucket]) => [bucket as Bucket, key]),
  );
  return {
    ...answer,
    buckets: Object.fromEntries(buckets.map((bucket) => [names.get(bucket) ?? keyOf(bucket), bucket])),
  };
}

/** Adds to rendered aggregations what the pipelines beside them make of their buckets. */
export function addSiblings(
  rendered: JsonObject,
  pipelines: readonly NamedPipeline[],
  typedKeys: boolean,
): void {
  for (const { name, pipeline, meta } of pipelines) {
    if (pipeline.place !== "sibling") continue;
    const key = typedKeys ? `${pipeline.typedName}#${name}` : name;
    const values = gather(rendered, pipeline);
    rendered[key] = { ...(meta === undefined ? {} : { meta }), ...pipeline.summarise(values) };
  }
}

/** Sorts pipelines so that what one reads comes before it. Throws request_invalid for a circle. */
export function inOrder(pipelines: readonly NamedPipeline[]): NamedPipeline[] {
  const waiting = new Map(pipelines.map((each) => [each.name, each]));
  const ordered: NamedPipeline[] = [];
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ name, pipeline }) =>
      pipeline.reads.every((read) => read === name || !waiting.has(read)),
    );
    if (ready.length === 0) {
      throw new AppError(
        "request_invalid",
        `Cyclical dependency found with pipeline aggregators [${[...waiting.keys()].join(", ")}]`,
      );
    }
    for (const each of ready) waiting.delete(each.name);
    ordered.push(...ready);
  }
  return ordered;
}

/** Numbers of the buckets that the path leads to; aggregations with one bucket are walked through. */
function gather(rendered: JsonObject, { path, gaps }: Sibling): KeyedValue[] {
  let at: unknown = rendered;
  for (const [depth, name] of path.names.entries()) {
    at = isObject(at) ? childOf(at, name) : undefined;
    if (!isObject(at)) return [];
    if (!("buckets" in at)) continue;
    const names = path.names.slice(depth + 1);
    const inner = names.length === 0 ? partOfBuckets(path.part) : { names, part: path.part };
    return bucketsOf(at)
      .map((bucket) => ({ key: keyOf(bucket), value: valueAt(bucket, inner, gaps) }))
      .filter(({ value }) => !Number.isNaN(value));
  }
  return [];
}

/** Returns what a path means that leads to buckets: `terms.stats.max` is `terms>stats.max`. */
function partOfBuckets(part: string): BucketPath {
  if (part === "") return { names: ["_count"], part: "" };
  const dot = part.indexOf(".");
  return dot < 0 ? { names: [part], part: "" } : { names: [part.slice(0, dot)], part: part.slice(dot + 1) };
}

function keyOf(bucket: Bucket): string {
  const key = bucket["key_as_string"] ?? bucket["key"];
  if (key instanceof NumberText) return key.text;
  return typeof key === "string" ? key : JSON.stringify(key ?? null);
}
