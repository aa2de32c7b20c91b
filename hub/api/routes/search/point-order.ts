/** The order of hits of a point in time: its last key is different for every hit. */

import { checkValid } from "#hub/api/http/request.ts";
import { contextFault } from "#hub/search/options/context-fault.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { SHARD_DOC } from "#hub/search/sort/sort-request.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Checks that a search without a point in time or scroll has no option that needs one. Throws request_invalid. */
export function checkPointless(body: JsonObject): void {
  if (body["slice"] !== undefined) {
    const where = answersAs(710) ? "scroll context or [pit]" : "a scroll context";
    throw contextFault(`\`slice\` cannot be used outside of ${where}`);
  }
  checkValid(
    sortNames(body["sort"]).includes(SHARD_DOC) &&
      `[${SHARD_DOC}] sort field cannot be used without [point in time]`,
  );
}

/**
 * Returns the body with a last sort key that differs for every hit, as in versions from 7.12 on, unless `search_after` has
 * no value for it.
 */
export function withTiebreak(body: JsonObject): JsonObject {
  const { sort, search_after: after } = body;
  const names = sortNames(sort);
  if (!answersAs(712) || names.length === 0 || names.at(-1) === SHARD_DOC) return body;
  if (Array.isArray(after) && after.length !== names.length + 1) return body;
  return { ...body, sort: [...(Array.isArray(sort) ? (sort as unknown[]) : [sort]), SHARD_DOC] };
}

/** Returns the names of the sort keys. */
function sortNames(sort: unknown): string[] {
  const entries: unknown[] = sort === undefined || sort === null ? [] : Array.isArray(sort) ? sort : [sort];
  return entries.flatMap((entry) => (isObject(entry) ? Object.keys(entry) : [String(entry)]));
}
