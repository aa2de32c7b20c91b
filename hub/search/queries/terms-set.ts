/** `terms_set`: documents with as many of these values as one of their fields says. */

import { AppError } from "#proto/kit/errors.ts";
import { numericColumn } from "../columns.ts";
import { exactQuery } from "../field-terms.ts";
import { objectOf, onlyEntry } from "../json.ts";
import { NoneNode } from "../nodes/documents.ts";
import { EnoughNode } from "../nodes/enough.ts";
import { MappedNode } from "../nodes/wrap.ts";
import { anything, list, readOptions, required, text } from "../options.ts";
import { COMMON_OPTIONS, type QueryType, withBoost } from "../query-parser.ts";

const OPTIONS = {
  terms: required(list("the values")),
  minimum_should_match_field: text("field that holds how many have to match", undefined),
  minimum_should_match_script: anything("scripts aren't offered"),
} as const;

export const termsSet: QueryType = {
  name: "terms_set",
  summary: "Documents with as many of these values as one of their fields says.",
  options: OPTIONS,
  parse(body, parser) {
    const [field, given] = onlyEntry(objectOf(body, "terms_set"), "terms_set");
    const options = readOptions("terms_set", objectOf(given, field), { ...COMMON_OPTIONS, ...OPTIONS });
    const counted = options.minimum_should_match_field;
    if (counted === undefined) {
      throw new AppError(
        "request_invalid",
        "[terms_set] needs [minimum_should_match_field]; scripts aren't offered",
      );
    }
    const values = options.terms ?? [];
    parser.countClauses(values.length);
    const query = new MappedNode((shard) => {
      const needed = shard.mapping.resolve(counted);
      if (needed === undefined) return new NoneNode();
      return new EnoughNode(
        values.map((value) => exactQuery(shard, field, value)),
        (segment) => {
          const column = numericColumn(segment, needed);
          return (doc) => column?.first(doc) ?? Number.NaN;
        },
      );
    });
    return withBoost(query, options);
  },
};
