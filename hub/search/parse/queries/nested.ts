/** `nested`: documents of which nested objects match a query. */

import { NestedNode } from "#hub/search/execute/nodes/nested.ts";
import { anything, flag, object, oneOf, required, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  path: required(text("path of the objects", undefined)),
  query: required(anything("the query, which runs among the objects; fields have their full paths")),
  score_mode: oneOf(
    "how the score is computed from those of matching objects",
    ["avg", "sum", "min", "max", "none"],
    "avg",
  ),
  ignore_unmapped: flag(
    "whether nothing matches, instead of failing, if the path isn't a nested object",
    false,
  ),
  inner_hits: object("which of the matching objects are returned with a hit"),
} as const;

export const nested: QueryType = {
  name: "nested",
  summary: "Documents of which nested objects match a query.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("nested", body, OPTIONS);
    const { path, inner_hits: innerHits } = options;
    const query = parser.parseNested(path, options.query, innerHits);
    const node = new NestedNode({
      path,
      query,
      score: options.score_mode ?? "avg",
      ignoreUnmapped: options.ignore_unmapped ?? false,
    });
    return withBoost(node, options);
  },
};
