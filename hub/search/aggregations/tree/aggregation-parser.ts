/** Parses `aggs` to a tree. The types are plugins: see all.ts. */

import { objectOf } from "#hub/search/options/json.ts";
import { type Options, readOptions, type Values } from "#hub/search/options/options.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import type { QueryParser } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import type { Aggregation, AggregationTree, NamedAggregation } from "./aggregation.ts";
import { hasBoundsOfShards } from "./aggregation-tree.ts";
import { inOrder } from "./apply-pipelines.ts";
import type { NamedPipeline, Pipeline, PipelineType } from "./pipeline.ts";

/** A type of aggregation: documentation, options and meaning. */
export interface AggregationType {
  /** Key in the request. */
  readonly name: string;
  /** One sentence for the reference. */
  readonly summary: string;
  readonly options: Options;
  /** False: it makes no buckets, so no aggregation may be below it. */
  readonly buckets: boolean;
  /** Whether several shards may be collected as one: `gains`, if that is cheaper; `never`, if the answer is another one. */
  readonly joined?: "gains" | "never";
  /** Throws parsing or request_invalid. */
  parse(body: unknown, context: AggregationContext): Aggregation;
}

export interface AggregationContext {
  /** Name that the request gave, for messages. */
  readonly name: string;
  readonly below: AggregationTree;
  /** Types of the aggregations above this one, the outermost first. */
  readonly above: readonly string[];
  readonly queries: QueryParser;
}

/** Aggregations of one request. */
const MAX_AGGREGATIONS = 1000;

/** Aggregations below aggregations. */
const MAX_DEPTH = 20;

/** Types with several buckets that pipelines may be below. */
const MANY_BUCKETS: ReadonlySet<string> = new Set([
  "histogram",
  "date_histogram",
  "auto_date_histogram",
  "terms",
  "range",
  "date_range",
  "ip_range",
  "geo_distance",
  "geohash_grid",
  "geotile_grid",
  "rare_terms",
  "multi_terms",
  "filters",
  "composite",
  "significant_terms",
  "adjacency_matrix",
]);

/** Pipelines that work on each bucket alone, whatever the buckets are of. */
const IN_ANY_BUCKETS: ReadonlySet<string> = new Set(["bucket_script", "bucket_selector", "bucket_sort"]);

/** Characters that ES keeps for paths and types. */
const NAME = /^[^[\]>]+$/;

export class AggregationParser {
  readonly #types: ReadonlyMap<string, AggregationType>;
  readonly #pipelines: ReadonlyMap<string, PipelineType>;
  readonly #queries: QueryParser;
  #count = 0;
  #gains = false;
  #mayJoin = true;

  /** `types`, `pipelines`: by their names. */
  constructor(
    types: ReadonlyMap<string, AggregationType>,
    pipelines: ReadonlyMap<string, PipelineType>,
    queries: QueryParser,
  ) {
    this.#types = types;
    this.#pipelines = pipelines;
    this.#queries = queries;
  }

  /** True if it is cheaper, and the same, to collect several shards as one; after `parse`. */
  get gainsJoined(): boolean {
    return this.#gains && this.#mayJoin;
  }

  /** Parses `{"<name>": {"<type>": {…}, "aggs": {…}}}`. Throws parsing. */
  parse(json: unknown): AggregationTree {
    const { tree, parents } = this.#level(json, []);
    const [first] = parents;
    if (first !== undefined) throw noParent(first);
    return tree;
  }

  /** One level: its aggregations with the pipelines beside them, and those for the aggregation above. */
  #level(json: unknown, above: readonly string[]): Level {
    if (above.length > MAX_DEPTH)
      throw new AppError("request_invalid", `aggregations are nested deeper than ${MAX_DEPTH} levels`);
    const tree = new Map<string, NamedAggregation>();
    const pipelines: NamedPipeline[] = [];
    for (const [name, body] of Object.entries(objectOf(json ?? {}, "aggregations"))) {
      this.#checkName(name);
      const { aggs, aggregations, meta, ...types } = objectOf(body, name);
      const [type, options] = onlyType(types, name);
      const known = isObject(meta) ? meta : undefined;
      const pipeline = this.#pipelines.get(type);
      if (pipeline === undefined) {
        tree.set(name, { ...this.#one(name, type, options, aggs ?? aggregations, above), meta: known });
        continue;
      }
      if (aggs !== undefined || aggregations !== undefined) throw noSubAggregations(name, type);
      pipelines.push({ name, type, pipeline: pipeline.parse(options, name), meta: known });
    }
    for (const { name, pipeline } of pipelines) checkReads(name, pipeline, tree, pipelines);
    const siblings = inOrder(pipelines.filter(({ pipeline }) => pipeline.place === "sibling"));
    const parents = inOrder(pipelines.filter(({ pipeline }) => pipeline.place === "parent"));
    return { tree: siblings.length === 0 ? tree : Object.assign(tree, { siblings }), parents };
  }

  #one(
    name: string,
    typeName: string,
    options: unknown,
    below: unknown,
    above: readonly string[],
  ): Omit<NamedAggregation, "meta"> {
    const type = this.#types.get(typeName);
    if (type === undefined) throw this.#unknown(name, typeName);
    if (type.joined === "never") this.#mayJoin = false;
    if (type.joined === "gains" && above.length === 0) this.#gains = true;
    const { tree, parents } = this.#level(below, [...above, type.name]);
    if (tree.size + parents.length > 0 && !type.buckets) throw noSubAggregations(name, typeName);
    for (const { name: pipeline } of parents) {
      if (MANY_BUCKETS.has(type.name)) continue;
      throw new AppError(
        "request_invalid",
        `pipeline aggregation [${pipeline}] must have an aggregation with several buckets as parent, but [${name}] is [${type.name}]`,
      );
    }
    const aggregation = type.parse(options, { name, below: tree, above, queries: this.#queries });
    const emptyLacksBounds = aggregation.emptyLacksBounds === true || hasBoundsOfShards(tree);
    return { aggregation, pipelines: parents, emptyLacksBounds };
  }

  #unknown(name: string, type: string): AppError {
    const reason = REFUSED_AGGREGATIONS.get(type);
    if (reason !== undefined) {
      return new AppError(
        "request_invalid",
        `aggregation [${name}] of type [${type}] can't be used: ${reason}`,
      );
    }
    const known = [...this.#types.keys(), ...this.#pipelines.keys()];
    return new AppError("parsing", `Unknown BaseAggregationBuilder [${type}]${didYouMean(type, known)}`);
  }

  #checkName(name: string): void {
    if (!NAME.test(name)) {
      throw new AppError(
        "parsing",
        `Invalid aggregation name [${name}]. Aggregation names must be alpha-numeric and can only contain '_' and '-'`,
      );
    }
    if (++this.#count > MAX_AGGREGATIONS)
      throw new AppError("request_invalid", `a request may have at most ${MAX_AGGREGATIONS} aggregations`);
  }
}

/** Aggregations that are known elsewhere and not offered, with the reason. */
export const REFUSED_AGGREGATIONS: ReadonlyMap<string, string> = new Map([
  ["children", "documents have no parents; put both into one document"],
  ["parent", "documents have no parents; put both into one document"],
  [
    "variable_width_histogram",
    "clusters of values depend on the shards; use histogram, or range with bounds of percentiles",
  ],
]);

interface Level {
  readonly tree: AggregationTree;
  readonly parents: readonly NamedPipeline[];
}

function onlyType(types: JsonObject, name: string): [type: string, options: unknown] {
  const [entry, second] = Object.entries(types);
  if (entry === undefined) throw new AppError("parsing", `Missing definition for aggregation [${name}]`);
  if (second === undefined) return entry;
  throw new AppError(
    "parsing",
    `Found two aggregation type definitions in [${name}]: [${entry[0]}] and [${second[0]}]`,
  );
}

/** From 7.8 on the message names the required parent. */
function noParent({ name, type }: NamedPipeline): AppError {
  if (!answersAs(708)) {
    return new AppError(
      "request_invalid",
      `Invalid pipeline aggregation named [${name}] of type [${type}]. Only sibling pipeline aggregations are allowed at the top level; put it below a histogram`,
    );
  }
  const text = IN_ANY_BUCKETS.has(type)
    ? `${type} aggregation [${name}] must be declared inside of another aggregation`
    : `${type} aggregation [${name}] must have a histogram, date_histogram or auto_date_histogram as parent but doesn't have a parent`;
  return new AppError("request_invalid", `Validation Failed: 1: ${text};`, {
    data: { type: "action_request_validation_exception" },
  });
}

function noSubAggregations(name: string, type: string): AppError {
  return new AppError("parsing", `Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`);
}

/** Throws if the first name of a path isn't beside the pipeline. */
function checkReads(
  name: string,
  { place, reads }: Pipeline,
  tree: AggregationTree,
  pipelines: readonly NamedPipeline[],
): void {
  const [first] = reads;
  if (first === undefined || first.startsWith("_") || tree.has(first)) return;
  if (pipelines.some((each) => each.name === first && each.name !== name)) return;
  const path = reads.join(">");
  throw new AppError(
    "request_invalid",
    place === "parent"
      ? `No aggregation found for path [${path}]`
      : `buckets_path aggregation does not exist for aggregation [${name}]: ${path}`,
  );
}

/** Reads the options of an aggregation. Throws parsing. */
export function readAggregation<O extends Options>(owner: string, body: unknown, options: O): Values<O> {
  return readOptions(owner, renamed(objectOf(body, owner), options), options, "aggregation");
}

/** Returns the options with `value_type` under its name, which was also `valueType`. */
function renamed(given: JsonObject, options: Options): JsonObject {
  if (!Object.hasOwn(given, "valueType") || !Object.hasOwn(options, "value_type")) return given;
  warnDeprecated("Deprecated field [valueType] used, expected [value_type] instead");
  const { valueType, ...others } = given;
  return { value_type: valueType, ...others };
}
