/**
 * `scripted_metric`: a value that scripts make. `init_script` prepares `state` for each shard and bucket, `map_script`
 * runs for each document, `combine_script` returns a shard's partial result, `reduce_script` computes the value from
 * `states`.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { readScript, type Script } from "#hub/scripts/script.ts";
import { parseDocument, toJson } from "#hub/scripts/values/json.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { printedNumber, RawJson } from "#hub/search/options/json-writer.ts";
import { anything, object } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { DocValues } from "#hub/search/scripting/doc-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { NumberText } from "#proto/kit/number-text.ts";

/** Steps of the script of one document: a batch of some thousand documents has the thread without a pause. */
const MAX_MAP_STEPS = 1000;
/** Documents of a bucket after which the size of its state is checked first; then after twice as many each time. */
const FIRST_CHECK = 1024;
/** Buckets that a state counts as: it holds more than a number. */
const STATE_BUCKETS = 10;

const OPTIONS = {
  init_script: anything("script that prepares `state`"),
  map_script: anything("script that sees each document"),
  combine_script: anything("script whose result a shard hands on; without it, `state`"),
  reduce_script: anything("script that makes the value of `states`; without it, the list of these"),
  params: object("parameters of all scripts"),
} as const;

interface Scripts {
  readonly init: Script | undefined;
  readonly map: Script;
  readonly combine: Script | undefined;
  readonly reduce: Script | undefined;
  readonly params: JsonObject;
}

/** Results of the shards' combine scripts. JSON-able. */
interface ScriptedState {
  /** With plain numbers, which hubs of versions before 5.0 was kept apart from 5 calculate with. */
  readonly states: readonly unknown[];
  /** The same with all digits, and with texts of whole fractions; absent if that makes no difference. */
  readonly exact?: readonly unknown[];
}

export const scriptedMetric: AggregationType = {
  name: "scripted_metric",
  summary: "A value that scripts make of documents.",
  options: OPTIONS,
  buckets: false,
  joined: "never",
  parse(body, { name }) {
    const options = readAggregation("scripted_metric", body, OPTIONS);
    if (options.map_script === undefined || options.map_script === null)
      throw new AppError("parsing", `map_script field is required in [${name}].`);
    return new ScriptedMetric({
      init: optional(options.init_script, ["params", "state"]),
      map: readScript(options.map_script, ["params", "state", "doc"]),
      combine: optional(options.combine_script, ["params", "state"]),
      reduce: optional(options.reduce_script, ["params", "states"]),
      params: options.params ?? {},
    });
  },
};

function optional(given: unknown, names: readonly string[]): Script | undefined {
  return given === undefined || given === null ? undefined : readScript(given, names);
}

class ScriptedMetric implements Aggregation<ScriptedState> {
  readonly #scripts: Scripts;
  /** Cached values of states: sorting reads them at every comparison. */
  readonly #values = new WeakMap<ScriptedState, unknown>();

  constructor(scripts: Scripts) {
    this.#scripts = scripts;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<ScriptedState> {
    return new ScriptedCollector(this.#scripts, shard, budget);
  }

  merge(states: readonly ScriptedState[]): ScriptedState {
    const merged = { states: states.flatMap((each) => each.states) };
    if (states.every(({ exact }) => exact === undefined)) return merged;
    return { ...merged, exact: states.flatMap((each) => each.exact ?? each.states) };
  }

  render(state: ScriptedState): JsonObject {
    return { value: this.#reduced(state) };
  }

  empty(): ScriptedState {
    return { states: [] };
  }

  metric(state: ScriptedState, name: string): number | undefined {
    return name === "" || name === "value" ? printedNumber(this.#reduced(state)) : undefined;
  }

  typedName(): string {
    return "scripted_metric";
  }

  #reduced(state: ScriptedState): unknown {
    if (!this.#values.has(state)) this.#values.set(state, this.#reduce(state));
    return this.#values.get(state);
  }

  #reduce({ states, exact = states }: ScriptedState): unknown {
    const { reduce, params } = this.#scripts;
    if (reduce === undefined) return exact;
    // The script may change its arguments.
    const given = exact.map(copied);
    return toJson(reduce.compiled.run([{ ...params, ...reduce.params, _aggs: given }, given]), "exact");
  }
}

/** Returns a copy of a state; its fractions, which were sent as texts, are numbers again. */
function copied(value: unknown): unknown {
  if (value instanceof NumberText || value instanceof RawJson) return new Decimal(Number(value.text));
  if (Array.isArray(value)) return value.map(copied);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each)]));
}

/** Returns a result with all numbers as such; itself where it has no others. */
function withPlainNumbers(value: unknown): unknown {
  if (typeof value === "bigint" || value instanceof NumberText) return Number(value);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, withPlainNumbers(each)] as const);
  if (entries.every(([name, each]) => each === (value as JsonObject)[name])) return value;
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

/** The state of a bucket while its documents are seen. */
interface BucketState {
  readonly state: JsonObject;
  readonly params: JsonObject;
  docs: number;
  nextCheck: number;
}

class ScriptedCollector implements Collector<ScriptedState> {
  readonly #scripts: Scripts;
  readonly #budget: CollectBudget;
  readonly #doc: DocValues;
  readonly #buckets: (BucketState | undefined)[] = [];
  #segment: SegmentReader | undefined;

  constructor(scripts: Scripts, shard: ShardContext, budget: CollectBudget) {
    this.#scripts = scripts;
    this.#budget = budget;
    this.#doc = new DocValues(shard);
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    const { map } = this.#scripts;
    const readsSource = map.compiled.source.includes("_source");
    for (let at = 0; at < length; at++) {
      const bucket = this.#of(buckets[at]!);
      this.#doc.move(this.#segment!, docs[at]!);
      if (readsSource)
        bucket.params["_source"] = parseDocument(new RawJson(this.#segment!.source(docs[at]!)).text);
      map.compiled.run([bucket.params, bucket.state, this.#doc], MAX_MAP_STEPS);
      if (++bucket.docs < bucket.nextCheck) continue;
      // Throws if the state has more members than an answer may have.
      toJson(bucket.state);
      bucket.nextCheck *= 2;
    }
  }

  state(bucket: number): ScriptedState {
    const { combine } = this.#scripts;
    const { state, params } = this.#of(bucket);
    const result =
      combine === undefined ? state : combine.compiled.run([{ ...params, ...combine.params }, state]);
    const exact = toJson(result, "exact");
    const plain = withPlainNumbers(exact);
    return { states: [plain], ...(plain !== exact && { exact: [exact] }) };
  }

  #of(bucket: number): BucketState {
    const known = this.#buckets[bucket];
    if (known !== undefined) return known;
    this.#budget.add(STATE_BUCKETS);
    const { init, map, params } = this.#scripts;
    const state: JsonObject = {};
    const shared = { ...params, ...map.params, _agg: state };
    init?.compiled.run([{ ...shared, ...init.params }, state]);
    const made = { state, params: shared, docs: 0, nextCheck: FIRST_CHECK };
    this.#buckets[bucket] = made;
    return made;
  }
}
