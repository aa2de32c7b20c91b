/** `composite`: pages of buckets by combinations of the values of several sources, in key order. */

import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { mergeTree, renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import { commonFormat, printValue, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { readTile, tileName } from "#hub/search/geo/tile.ts";
import { integer, list, object, required } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { type CompositeBucket, CompositeCollector, type CompositeState } from "./composite-collector.ts";
import { type CompositeSource, type KeyPart, readSource, SourceValues } from "./composite-source.ts";
import { comparisonOf } from "./key-order.ts";

const OPTIONS = {
  sources: required(
    list("sources of the key: [{name: {terms | histogram | date_histogram | geotile_grid: {field}}}]"),
  ),
  size: integer("buckets of a page", 10, 1),
  after: object("key of the last bucket of the page before"),
} as const;

/** Sources of one key. */
const MAX_SOURCES = 20;
/** Buckets of a page at most. */
const MAX_PAGE = 65_536;

export const composite: AggregationType = {
  name: "composite",
  summary: "Pages of buckets by combinations of values.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below, above }) {
    checkParents(above);
    const options = readAggregation("composite", body, OPTIONS);
    const sources = (options.sources ?? []).map((each) => readSource(each));
    checkSources(sources, name);
    const names = new Set(sources.map((source) => source.name));
    checkAfter(options.after, names);
    checkSize(options.size ?? 10);
    return new Composite(sources, options.size ?? 10, options.after, below);
  },
};

/**
 * Only aggregations with a single bucket may be above it: nested objects from 6.7 on, filters from 7.0 on. Throws
 * request_invalid.
 */
function checkParents(above: readonly string[]): void {
  const mayBeAbove = (type: string): boolean =>
    (type === "nested" && answersAs(607)) || (type === "filter" && answersAs(700));
  const parent = above.find((type) => !mayBeAbove(type));
  if (parent === undefined) return;
  const kind = answersAs(700) ? ` of type: [${parent}]` : "";
  throw new AppError(
    "request_invalid",
    `[composite] aggregation cannot be used with a parent aggregation${kind}`,
  );
}

/** From 6.7 on a page must not ask for more than an answer may hold. */
function checkSize(size: number): void {
  if (size <= MAX_PAGE || !answersAs(607)) return;
  throw new AppError(
    "too_many_buckets",
    `Trying to create too many buckets. Must be less than or equal to: [${MAX_PAGE}] but was [${size}]. Ask for a smaller page and use [after].`,
    { data: { max_buckets: MAX_PAGE } },
  );
}

function checkSources(sources: readonly CompositeSource[], name: string): void {
  if (sources.length === 0)
    throw new AppError("request_invalid", `Composite [sources] cannot be null or empty: [${name}]`);
  if (sources.length > MAX_SOURCES)
    throw new AppError("request_invalid", `Composite [sources] of [${name}] must be at most ${MAX_SOURCES}`);
  const names = sources.map((source) => source.name);
  const repeated = [...new Set(names.filter((each, at) => names.indexOf(each) !== at))];
  if (repeated.length === 0) return;
  throw new AppError(
    "request_invalid",
    `Composite source names must be unique, found duplicates: [${repeated.join(",")}]`,
  );
}

function checkAfter(after: JsonObject | undefined, names: ReadonlySet<string>): void {
  if (after === undefined) return;
  const keys = Object.keys(after);
  if (keys.length === names.size && keys.every((key) => names.has(key))) return;
  throw new AppError(
    "request_invalid",
    `[after] has ${keys.length} value(s) but [sources] has ${names.size}; it must name each source once`,
  );
}

class Composite implements Aggregation<CompositeState> {
  readonly #sources: readonly CompositeSource[];
  readonly #size: number;
  readonly #after: JsonObject | undefined;
  readonly #below: AggregationTree;

  constructor(
    sources: readonly CompositeSource[],
    size: number,
    after: JsonObject | undefined,
    below: AggregationTree,
  ) {
    this.#sources = sources;
    this.#size = size;
    this.#after = after;
    this.#below = below;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<CompositeState> {
    const values = this.#sources.map((source) => new SourceValues(source, shard));
    const after = this.#after;
    const behind =
      after === undefined ? undefined : values.map((source) => source.read(after[source.name], shard));
    return new CompositeCollector({
      values,
      behind,
      size: this.#size,
      compare: comparisonOf(
        this.#sources,
        values.map(({ areAddresses }) => areAddresses),
      ),
      below: this.#below,
      shard,
      budget,
    });
  }

  *merge(states: readonly CompositeState[]): Steps<CompositeState> {
    if (states.length === 1) return states[0]!;
    const all: CompositeBucket[] = [];
    for (const { buckets } of states) {
      yield;
      for (const bucket of buckets) all.push(bucket);
    }
    for (const [at, { name }] of this.#sources.entries()) checkKinds(states, at, name);
    // Equal keys are then adjacent. The aggregations below keys beyond the page aren't merged.
    const areAddresses = this.#sources.map((_, at) =>
      states.some(({ areAddresses: known }) => known?.[at] === true),
    );
    const compare = comparisonOf(this.#sources, areAddresses);
    const sorted = yield* sortedSteps(all, (a, b) => compare(a.key, b.key));
    const merged: CompositeBucket[] = [];
    for (let from = 0, to = 0; from < sorted.length && merged.length < this.#size; from = to) {
      while (to < sorted.length && compare(sorted[from]!.key, sorted[to]!.key) === 0) to++;
      merged.push(yield* this.#join(sorted.slice(from, to)));
    }
    const formats = this.#sources.map((_, at) =>
      states.map((state) => state.formats[at] ?? null).reduce(commonOrNone),
    );
    return { buckets: merged, formats, areAddresses };
  }

  /** Joins buckets of the same key. */
  *#join(same: readonly CompositeBucket[]): Steps<CompositeBucket> {
    yield;
    const below = yield* mergeTree(
      this.#below,
      same.map((bucket) => bucket.below),
    );
    return { key: same[0]!.key, count: same.reduce((sum, { count }) => sum + count, 0), below };
  }

  *render({ buckets, formats }: CompositeState, budget: BucketBudget): Steps<JsonObject> {
    budget.add(buckets.length);
    const keyOf = (key: readonly KeyPart[]): JsonObject =>
      Object.fromEntries(
        key.map((part, at) => [
          this.#sources[at]!.name,
          printPart(part, formats[at] ?? null, this.#sources[at]!),
        ]),
      );
    const rendered: JsonObject[] = [];
    for (const { key, count, below } of buckets) {
      yield;
      rendered.push({
        key: keyOf(key),
        doc_count: count,
        ...(yield* renderTree(this.#below, below, budget)),
      });
    }
    const last = buckets.at(-1);
    return { ...(last !== undefined && { after_key: keyOf(last.key) }), buckets: rendered };
  }

  empty(): CompositeState {
    return { buckets: [], formats: [], areAddresses: [] };
  }

  typedName(): string {
    return "composite";
  }
}

/**
 * Refuses keys of one source that are of several types, as their shards' pages are in orders of their own: keys between the
 * ends of two pages would be lost. Throws request_invalid.
 */
function checkKinds(states: readonly CompositeState[], at: number, name: string): void {
  const kinds = new Set<string>();
  for (const { buckets, areAddresses } of states) {
    const part = buckets.find(({ key }) => key[at] !== null)?.key[at];
    if (typeof part === "number" || typeof part === "bigint") kinds.add("number");
    // An older hub doesn't say which texts are addresses.
    else if (typeof part === "string" && areAddresses !== undefined)
      kinds.add(areAddresses[at] === true ? "address" : "text");
  }
  if (kinds.size <= 1) return;
  throw new AppError(
    "request_invalid",
    `the field of source [${name}] of the [composite] aggregation exists as two different types in two different indices; search them separately`,
  );
}

function commonOrNone(a: ValueFormat | null, b: ValueFormat | null): ValueFormat | null {
  return a === null || b === null ? (a ?? b) : commonFormat(a, b);
}

function printPart(
  part: KeyPart,
  format: CompositeState["formats"][number],
  { zoom }: CompositeSource,
): unknown {
  if (zoom !== undefined && part !== null) return tileName(readTile(part, zoom));
  if (typeof part !== "number" || format === null) return part;
  if (format.kind === "boolean") return part === 1;
  return printValue(format, part) ?? fraction(part);
}
