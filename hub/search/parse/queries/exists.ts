/** `exists`: documents with a value of a field. */

import { ExistsNode } from "#hub/search/execute/nodes/documents.ts";
import { required, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = { field: required(text("name of the field or object, may hold *", undefined)) } as const;

export const exists: QueryType = {
  name: "exists",
  summary: "Documents with a value of a field.",
  options: OPTIONS,
  parse(body) {
    const options = readBody("exists", body, OPTIONS);
    return withBoost(new ExistsNode(options.field), options);
  },
};
