/** Parses the aliases of requests. */

import type { AliasOptions } from "#hub/api/ports/indices.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { isTermsLookup, isTrue } from "./values.ts";

/** Parses {"name": {filter, routing, …}, …}. Throws parsing, request_invalid. */
export function parseAliases(value: unknown): Record<string, AliasOptions> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new AppError("parsing", "[aliases] must be an object of aliases by name");
  return Object.fromEntries(
    Object.entries(value).map(([name, options]) => {
      checkAliasName(name);
      return [name, parseAlias(isObject(options) ? options : {})];
    }),
  );
}

/** Parses {filter, routing, index_routing, search_routing, is_write_index, is_hidden}. Throws parsing, request_invalid. */
export function parseAlias(options: JsonObject): AliasOptions {
  const { filter, is_write_index: isWriteIndex, is_hidden: isHidden } = options;
  const indexRouting = options["index_routing"] ?? options["routing"];
  const searchRouting = options["search_routing"] ?? options["routing"];
  if (filter !== undefined && filter !== null && !isObject(filter))
    throw new AppError("parsing", "[filter] of an alias must be a query");
  if (isObject(filter) && holdsLookup(filter))
    throw new AppError(
      "request_invalid",
      "[filter] of an alias can't look up the values of [terms] in a document",
    );
  return {
    ...(isObject(filter) && { filter }),
    ...(indexRouting !== undefined &&
      indexRouting !== null && { index_routing: scalarText(indexRouting, "index_routing") }),
    ...(searchRouting !== undefined &&
      searchRouting !== null && { search_routing: scalarText(searchRouting, "search_routing") }),
    ...(isWriteIndex !== undefined && isWriteIndex !== null && { is_write_index: isTrue(isWriteIndex) }),
    ...(isHidden !== undefined && isHidden !== null && { is_hidden: isTrue(isHidden) }),
  };
}

/** Returns true if a query needs values of a document: an alias filter can't, because it is used as given. */
function holdsLookup(query: unknown): boolean {
  if (Array.isArray(query)) return query.some(holdsLookup);
  if (!isObject(query)) return false;
  const { terms } = query;
  if (isObject(terms) && Object.values(terms).some(isTermsLookup)) return true;
  return Object.values(query).some(holdsLookup);
}

/** Throws index_name_invalid for names that no alias may have. */
export function checkAliasName(name: string): void {
  const refuse = (why: string): never => {
    throw new AppError("index_name_invalid", `Invalid alias name [${name.toWellFormed()}]: ${why}`, {
      data: { type: "invalid_alias_name_exception" },
    });
  };
  if (!name.isWellFormed()) refuse("must be well-formed Unicode, without half of a surrogate pair");
  if (name === "" || name === "." || name === "..") refuse("must not be '.' or '..'");
  if (name.includes("#")) refuse("must not contain '#'");
  if (/[\\/*?"<>| ,]/.test(name))
    refuse('must not contain the following characters [ , ", *, \\, <, |, ,, >, /, ?]');
  if (/^[_\-+]/.test(name)) refuse("must not start with '_', '-', or '+'");
}
