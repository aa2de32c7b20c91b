/** Turns prefixes, wildcards and regular expressions into queries over the terms of a field. */

import type { TermDictionary, TermIterator } from "#hub/engine/searcher/searcher.ts";
import { TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { caselessStart, foldCase } from "#hub/search/patterns/ascii-case.ts";
import { compileRegexp } from "#hub/search/patterns/automaton.ts";
import { REGEXP_FLAGS } from "#hub/search/patterns/regexp-flags.ts";
import { compileCaselessWildcard, compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { Query } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkSearchable, exactQuery, fieldOf, normalizedFor } from "./field-terms.ts";

/** Field of an index's name: no index has terms for it. */
export const INDEX_FIELD = "_index";

/**
 * Returns a query on a field with terms, made by `make` from the field's path and `value` as terms of the field are written.
 * `indexName`: the names that it means where the field is _index, with * for any text; without it none. Names of indices have
 * small letters alone.
 */
export function patternQuery(
  owner: string,
  name: string,
  value: string,
  make: (path: string, value: string) => Query,
  indexName?: string,
): Query {
  return new MappedNode((shard) => {
    if (name === INDEX_FIELD && indexName !== undefined) return exactQuery(shard, name, indexName);
    const field = fieldOf(shard, name);
    if (field === undefined) return new NoneNode();
    checkSearchable(field, shard);
    if (field.type === "text" || field.type === "keyword")
      return make(field.path, normalizedFor(shard, field, value));
    throw new AppError(
      "query_shard",
      `Can only use ${owner} queries on keyword and text fields - not on [${name}] which is of type [${field.type}]`,
      { data: { index: shard.index, index_uuid: shard.indexUuid } },
    );
  });
}

/** Returns the documents with a term that is `value` in any case. */
export function caselessQuery(path: string, value: string): Query {
  const folded = foldCase(value);
  return new TermsNode(path, {
    key: `caseless ${folded}`,
    text: value,
    terms: (segment, field) => segment.terms(field)?.prefix(caselessStart(value)) ?? null,
    accepts: (text) => text.length === value.length && foldCase(text) === folded,
  });
}

/** Returns the documents with a term that fits `pattern`, `isCaseless`: in any case. `kind`: for a refusal. */
export function wildcardQuery(
  path: string,
  pattern: string,
  isCaseless = false,
  kind: "wildcard" | "prefix" = "wildcard",
): Query {
  const compiled = isCaseless ? compileCaselessWildcard(pattern) : compileWildcard(pattern);
  if (compiled.literal) return new TermNode(path, compiled.prefix);
  if (/^\*+$/.test(pattern)) return new ExistsNode(path);
  return new TermsNode(path, {
    key: `${isCaseless ? "caseless " : ""}wildcard ${pattern}`,
    text: pattern,
    expensive: kind,
    terms: (segment, field) => candidates(segment.terms(field), compiled.prefix, compiled.longest),
    accepts: (text) => compiled.matches(text),
  });
}

/** Returns the terms that may fit: those with the prefix, or with the longest text that all of them hold. */
function candidates(terms: TermDictionary | null, prefix: string, longest: string): TermIterator | null {
  if (terms === null) return null;
  return prefix === "" && longest !== "" ? terms.containing(Buffer.from(longest)) : terms.prefix(prefix);
}

/** Throws request_invalid for an expression of more than `maxLength` characters. */
export function checkRegexpLength(source: string, maxLength: number): void {
  if (source.length > maxLength) {
    throw new AppError(
      "request_invalid",
      `The length of regex [${source.length}] used in the Regexp Query request has exceeded the allowed maximum of [${maxLength}]. This maximum can be set by changing the [index.max_regex_length] index level setting.`,
    );
  }
}

/** Throws request_invalid for an expression that is too long or has a fault. */
export function checkRegexp(source: string, maxLength: number, flags?: number): void {
  checkRegexpLength(source, maxLength);
  compileRegexp(source, false, flags);
}

/** Returns the documents with a term that an expression of at most `maxLength` characters matches. Throws request_invalid. */
export function regexpQuery(
  path: string,
  source: string,
  maxLength: number,
  isCaseless = false,
  flags: number = REGEXP_FLAGS.ALL,
): Query {
  checkRegexpLength(source, maxLength);
  const compiled = compileRegexp(source, isCaseless, flags);
  return new TermsNode(path, {
    key: `${isCaseless ? "caseless " : ""}regexp ${flags} ${source}`,
    text: `/${source}/`,
    expensive: "regexp",
    terms: (segment, field) => candidates(segment.terms(field), compiled.prefix, compiled.longest),
    accepts: (text) => compiled.matches(text),
    work: () => compiled.work,
  });
}
