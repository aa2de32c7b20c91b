/** Queries without a value to look for: `ids`, `match_all`, `match_none`, `exists`, `type`. */

import { AllNode, ExistsNode, IdsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { exactQuery } from "#hub/search/fields/field-terms.ts";
import { hint, required, text, texts } from "#hub/search/options/options.ts";
import { checkFieldName, type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const IDS_OPTIONS = {
  values: required(texts("ids")),
  type: hint(texts("an index has one type")),
} as const;

export const ids: QueryType = {
  name: "ids",
  summary: "Documents with these ids.",
  options: IDS_OPTIONS,
  parse(body) {
    const options = readBody("ids", body, IDS_OPTIONS);
    return withBoost(new IdsNode(options.values), options);
  },
};

export const matchAll: QueryType = {
  name: "match_all",
  summary: "Every document.",
  options: {},
  parse: (body) => withBoost(new AllNode(), readBody("match_all", body, {})),
};

export const matchNone: QueryType = {
  name: "match_none",
  summary: "No document.",
  options: {},
  parse: (body) => withBoost(new NoneNode(), readBody("match_none", body, {})),
};

const EXISTS_OPTIONS = {
  field: required(text("name of the field or object, may hold *", undefined)),
} as const;

export const exists: QueryType = {
  name: "exists",
  summary: "Documents with a value of a field.",
  options: EXISTS_OPTIONS,
  parse(body) {
    const options = readBody("exists", body, EXISTS_OPTIONS);
    checkFieldName("exists", options.field);
    return withBoost(new ExistsNode(options.field), options);
  },
};

const TYPE_OPTIONS = { value: required(text("name of the type", undefined)) } as const;

export const type: QueryType = {
  name: "type",
  summary: "Documents of indices with this type name.",
  options: TYPE_OPTIONS,
  parse(body) {
    const options = readBody("type", body, TYPE_OPTIONS);
    return withBoost(new MappedNode((shard) => exactQuery(shard, "_type", options.value)), options);
  },
};
