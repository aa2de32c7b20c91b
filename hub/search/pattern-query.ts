/** Patterns over the terms of a field. */

import { AppError } from "#proto/kit/errors.ts";
import { checkSearchable, fieldOf } from "./field-terms.ts";
import { ExistsNode, NoneNode } from "./nodes/documents.ts";
import { TermNode } from "./nodes/term.ts";
import { TermsNode } from "./nodes/terms-set.ts";
import { MappedNode } from "./nodes/wrap.ts";
import type { Query } from "./query.ts";
import { compileRegexp } from "./regexp/automaton.ts";
import { compileWildcard } from "./regexp/wildcard.ts";

/** Returns a query on a field with terms, made by `make` from the field's path. */
export function patternQuery(owner: string, name: string, make: (path: string) => Query): Query {
  return new MappedNode((shard) => {
    const field = fieldOf(shard, name);
    if (field === undefined) return new NoneNode();
    checkSearchable(field, shard);
    if (field.type === "text" || field.type === "keyword") return make(field.path);
    throw new AppError(
      "query_shard",
      `Can only use ${owner} queries on keyword and text fields - not on [${name}] which is of type [${field.type}]`,
      { data: { index: shard.index, index_uuid: shard.indexUuid } },
    );
  });
}

/** Returns the documents with a term that fits `pattern`. */
export function wildcardQuery(path: string, pattern: string): Query {
  const compiled = compileWildcard(pattern);
  if (compiled.literal) return new TermNode(path, compiled.prefix);
  if (/^\*+$/.test(pattern)) return new ExistsNode(path);
  return new TermsNode(path, {
    terms: (segment, field) => segment.terms(field)?.prefix(compiled.prefix) ?? null,
    accepts: (text) => compiled.matches(text),
  });
}

/** Returns what makes a query of a field's path; the expression is checked at once. Throws request_invalid. */
export function regexpQuery(source: string): (path: string) => Query {
  const compiled = compileRegexp(source);
  return (path) =>
    new TermsNode(path, {
      terms: (segment, field) => segment.terms(field)?.prefix(compiled.prefix) ?? null,
      accepts: (text) => compiled.matches(text),
    });
}
