/** JSON of `aggs` to a tree. The types are plugins: see all.ts. */

import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { isObject, type JsonObject, objectOf } from "../json.ts";
import { type Options, readOptions, type Values } from "../options.ts";
import type { QueryParser } from "../query-parser.ts";
import type { Aggregation, AggregationTree, NamedAggregation } from "./aggregation.ts";

/** A type of aggregation: documentation, options and meaning. */
export interface AggregationType {
  /** Key in the request. */
  readonly name: string;
  /** One sentence for the reference. */
  readonly summary: string;
  readonly options: Options;
  /** False: it makes no buckets, so that nothing may stand below it. */
  readonly buckets: boolean;
  /** Throws parsing or request_invalid. */
  parse(body: unknown, context: AggregationContext): Aggregation;
}

export interface AggregationContext {
  /** Name that the request gave, for messages. */
  readonly name: string;
  readonly below: AggregationTree;
  /** Aggregations above this one. */
  readonly depth: number;
  readonly queries: QueryParser;
}

/** Aggregations of one request. */
const MAX_AGGREGATIONS = 1000;

/** Aggregations below aggregations. */
const MAX_DEPTH = 20;

/** Characters that ES keeps for paths and types. */
const NAME = /^[^[\]>]+$/;

export class AggregationParser {
  readonly #types: ReadonlyMap<string, AggregationType>;
  readonly #queries: QueryParser;
  #count = 0;

  constructor(types: readonly AggregationType[], queries: QueryParser) {
    this.#types = new Map(types.map((type) => [type.name, type]));
    this.#queries = queries;
  }

  /** Parses `{"<name>": {"<type>": {…}, "aggs": {…}}}`. Throws parsing. */
  parse(json: unknown, depth = 0): AggregationTree {
    if (depth > MAX_DEPTH)
      throw new AppError("request_invalid", `aggregations are nested deeper than ${MAX_DEPTH} levels`);
    const tree = new Map<string, NamedAggregation>();
    for (const [name, body] of Object.entries(objectOf(json ?? {}, "aggregations"))) {
      if (!NAME.test(name)) {
        throw new AppError(
          "parsing",
          `Invalid aggregation name [${name}]. Aggregation names must be alpha-numeric and can only contain '_' and '-'`,
        );
      }
      if (++this.#count > MAX_AGGREGATIONS) {
        throw new AppError("request_invalid", `a request may have at most ${MAX_AGGREGATIONS} aggregations`);
      }
      tree.set(name, this.#one(name, objectOf(body, name), depth));
    }
    return tree;
  }

  #one(name: string, { aggs, aggregations, meta, ...types }: JsonObject, depth: number): NamedAggregation {
    const [entry, second] = Object.entries(types);
    if (entry === undefined) throw new AppError("parsing", `Missing definition for aggregation [${name}]`);
    if (second !== undefined) {
      throw new AppError(
        "parsing",
        `Found two aggregation type definitions in [${name}]: [${entry[0]}] and [${second[0]}]`,
      );
    }
    const type = this.#types.get(entry[0]);
    if (type === undefined) {
      throw new AppError(
        "parsing",
        `Unknown BaseAggregationBuilder [${entry[0]}]${didYouMean(entry[0], this.#types.keys())}`,
      );
    }
    const below = this.parse(aggs ?? aggregations, depth + 1);
    if (below.size > 0 && !type.buckets) {
      throw new AppError(
        "parsing",
        `Aggregator [${name}] of type [${type.name}] cannot accept sub-aggregations`,
      );
    }
    const aggregation = type.parse(entry[1], { name, below, depth, queries: this.#queries });
    return { aggregation, meta: isObject(meta) ? meta : undefined };
  }
}

/** Reads the options of an aggregation. Throws parsing. */
export function readAggregation<O extends Options>(owner: string, body: unknown, options: O): Values<O> {
  return readOptions(owner, objectOf(body, owner), options, "aggregation");
}
