/** `rank_feature`: documents with a feature, scored by a function of its value. */

import { type Field, isFeature } from "#hub/engine/mapping/field.ts";
import { ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { FunctionScoreNode } from "#hub/search/execute/nodes/function-score.ts";
import { ConstantNode, MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { number, object, readOptions, required, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { ScoreFunction } from "#hub/search/scoring/score-functions.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const OPTIONS = {
  field: required(text("field of type rank_feature", undefined)),
  saturation: object("value / (value + pivot); without a pivot that is about the mean of the values"),
  log: object("ln(scaling_factor + value)"),
  sigmoid: object("value^exponent / (value^exponent + pivot^exponent)"),
  linear: object("the value itself"),
} as const;
const SATURATION = { pivot: number("value that scores a half", undefined) } as const;
const LOG = { scaling_factor: required(number("at least 1", undefined)) } as const;
const SIGMOID = {
  pivot: required(number("value that scores a half", undefined)),
  exponent: required(number("how steep the scores are", undefined)),
} as const;

/** Documents of a shard that a pivot is estimated by, the first ones: some milliseconds. */
const MAX_ESTIMATED = 50_000;

/** Bits of a float that Lucene leaves out: 9 of the fraction stay. */
const LOST_BITS = 15;

export const rankFeature: QueryType = {
  name: "rank_feature",
  summary: "Documents with a feature, scored by a function of its value.",
  options: OPTIONS,
  parse(body) {
    const options = readBody("rank_feature", body, OPTIONS);
    const { name, shape } = readShape(options);
    const query = new MappedNode((shard) => {
      const field = shard.mapping.resolve(options.field);
      if (field === undefined) return new NoneNode();
      checkField(field, name);
      return new FunctionScoreNode(new ConstantNode(new ExistsNode(field.path)), {
        functions: [{ filter: undefined, score: scoreOf(field, shape), weight: 1 }],
        scoreMode: "first",
        boostMode: "multiply",
        maxBoost: Number.MAX_VALUE,
        minScore: undefined,
      });
    });
    return withBoost(query, options);
  },
};

/** The score of a value; `mean` estimates the mean of the values. */
type Shape = (mean: () => number) => (value: number) => number;

type Functions = Readonly<Record<"saturation" | "log" | "sigmoid" | "linear", JsonObject | undefined>>;

/** Throws parsing, request_invalid. */
function readShape({ saturation, log, sigmoid, linear }: Functions): { name: string; shape: Shape } {
  const given = Object.entries({ saturation, log, sigmoid, linear }).filter(([, each]) => each !== undefined);
  if (given.length > 1)
    throw new AppError(
      "request_invalid",
      "Can only specify one of [log], [saturation], [sigmoid] and [linear]",
    );
  const [name = "saturation", json = {}] = given[0] ?? [];
  const owner = `rank_feature] [${name}`;
  if (name === "linear") {
    readOptions(owner, json, {});
    return { name, shape: () => (value) => value };
  }
  if (name === "log") {
    const { scaling_factor: factor } = readOptions(owner, json, LOG);
    if (!(factor >= 1))
      throw new AppError("request_invalid", `scalingFactor must be >= 1 and finite, got: ${factor}`);
    return { name, shape: () => (value) => Math.log(factor + value) };
  }
  if (name === "sigmoid") {
    const { pivot, exponent } = readOptions(owner, json, SIGMOID);
    checkAbove("pivot", pivot);
    checkAbove("exponent", exponent);
    const half = pivot ** exponent;
    return { name, shape: () => (value) => value ** exponent / (value ** exponent + half) };
  }
  const { pivot } = readOptions(owner, json, SATURATION);
  if (pivot !== undefined) checkAbove("pivot", pivot);
  return {
    name,
    shape: (mean) => {
      const half = pivot ?? mean();
      return (value) => value / (value + half);
    },
  };
}

function checkAbove(name: string, value: number): void {
  if (!(value > 0)) throw new AppError("request_invalid", `${name} must be > 0, got: ${value}`);
}

/** Throws request_invalid for a field of another type, or one whose large values count less if that gives no score. */
function checkField(field: Field, shape: string): void {
  const { positive_score_impact: impact } = field.given;
  if (!isFeature(field)) {
    throw new AppError(
      "request_invalid",
      `[rank_feature] query only works on [rank_feature] fields, not [${field.type}]`,
    );
  }
  if (impact === false && (shape === "log" || shape === "linear")) {
    throw new AppError(
      "request_invalid",
      `Cannot use the [${shape}] function with a field that has a negative score impact as it would trigger negative scores`,
    );
  }
}

function scoreOf(field: Field, shape: Shape): ScoreFunction {
  const isInverse = field.given["positive_score_impact"] === false;
  const bits = new Int32Array(1);
  const float = new Float32Array(bits.buffer);
  /** The value as Lucene keeps it; 0 for what isn't a feature. */
  const kept = (value: number): number => {
    if (!(value > 0)) return 0;
    float[0] = isInverse ? 1 / value : value;
    bits[0] = (bits[0]! >>> LOST_BITS) << LOST_BITS;
    return float[0];
  };
  const meanOn = (shard: ShardContext): number => {
    let [sum, count, left] = [0, 0, MAX_ESTIMATED];
    for (const segment of shard.searcher.segments) {
      const column = segment.numericColumn(field.path);
      if (column === null) continue;
      for (let doc = 0; doc < segment.docCount && left > 0; doc++, left--) {
        if (kept(column.first(doc)) === 0) continue;
        // The mean of the bits of floats is about that of their logarithms.
        sum += bits[0]! >>> LOST_BITS;
        count++;
      }
    }
    bits[0] = count === 0 ? 0 : Math.round(sum / count) << LOST_BITS;
    return count === 0 ? 1 : float[0]!;
  };
  return {
    bind(shard) {
      const score = shape(() => meanOn(shard));
      return (segment) => {
        const column = segment.numericColumn(field.path);
        return (doc) => score(kept(column?.first(doc) ?? 0));
      };
    },
  };
}
