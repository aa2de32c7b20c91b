/** Words of a text in any order, the last of which may be a beginning, as people type them. */

import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { ConstantNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { checkSearchable, fieldOf } from "./field-terms.ts";
import { minimumShouldMatch } from "./minimum-should-match.ts";
import {
  analyze,
  matchQuery,
  prefixQuery,
  type TextOptions,
  termOrFuzzy,
  tokenPlaces,
  unlessLenient,
} from "./text-query.ts";

/** Returns the documents whose `name` holds the text's terms, a term that begins with the last one counting as that. */
export function boolPrefixQuery(
  shard: ShardContext,
  name: string,
  value: unknown,
  options: TextOptions,
): Query {
  const field = fieldOf(shard, name);
  if (field?.type !== "text") return matchQuery(shard, name, value, options);
  return unlessLenient(options.lenient, () => {
    checkSearchable(field, shard);
    const places = tokenPlaces(analyze(shard, field, scalarText(value, name), options.analyzer));
    const last = places.pop();
    if (last === undefined) return options.zeroTerms ?? new NoneNode();
    const clauses = [
      ...places.map(({ terms }) => bestOf(terms.map((term) => termOrFuzzy(field.path, term, options)))),
      // All that a beginning stands for scores alike.
      new ConstantNode(bestOf(last.terms.map((term) => prefixQuery(field.path, term)))),
    ];
    if (clauses.length === 1) return clauses[0]!;
    if (options.operator === "and") return new BooleanNode({ must: clauses });
    const minimum = minimumShouldMatch(options.minimumShouldMatch);
    return new BooleanNode({
      should: clauses,
      ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
    });
  });
}
