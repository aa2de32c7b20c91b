/** `distance_feature`: the nearer a time or a point is to an origin, the higher the score. */

import { isDate } from "#hub/engine/mapping/field.ts";
import { ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { FunctionScoreNode } from "#hub/search/execute/nodes/function-score.ts";
import { ConstantNode, MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { anything, required, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { type ScoreFunction, unitsOf } from "#hub/search/scoring/score-functions.ts";
import { AppError } from "#proto/kit/errors.ts";

const OPTIONS = {
  field: required(text("field of dates or points", undefined)),
  origin: required(anything("time or point that scores best")),
  pivot: required(anything("distance at which half of the score is left: 7d, 10km")),
} as const;

export const distanceFeature: QueryType = {
  name: "distance_feature",
  summary: "Documents with a time or a point, the nearer to an origin the better.",
  options: OPTIONS,
  parse(body) {
    const { field: name, origin, pivot, ...options } = readBody("distance_feature", body, OPTIONS);
    const query = new MappedNode((shard) => {
      const field = shard.mapping.resolve(name);
      if (field === undefined) return new NoneNode();
      return new FunctionScoreNode(new ConstantNode(new ExistsNode(field.path)), {
        functions: [{ filter: undefined, score: nearness(name, origin, pivot), weight: 1 }],
        scoreMode: "first",
        boostMode: "multiply",
        maxBoost: Number.MAX_VALUE,
        minScore: undefined,
      });
    });
    return withBoost(query, options);
  },
};

/** pivot / (pivot + distance): 1 at the origin, a half at the pivot. */
function nearness(name: string, origin: unknown, pivot: unknown): ScoreFunction {
  return {
    bind(shard: ShardContext) {
      const field = shard.mapping.resolve(name)!;
      if (!isDate(field) && field.type !== "geo_point") {
        throw new AppError(
          "request_invalid",
          `Illegal data type of [${field.type}]! [distance_feature] query can only be run on a date, date_nanos or geo_point field type!`,
        );
      }
      const units = unitsOf(field, { origin, scale: pivot, offset: undefined }, shard);
      const { scale } = units;
      if (!(scale > 0))
        throw new AppError("request_invalid", "[pivot] of [distance_feature] must be above 0");
      return (segment) => {
        const distances = units.open(segment);
        return (doc) => scale / (scale + Math.min(...distances(doc)));
      };
    },
  };
}
