/** `indices_boost` of a search by the concrete indices that its names mean: aliases, patterns. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import type { ResolveOptions } from "#hub/api/ports/indices.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Returns `body` with each name of `indices_boost` replaced by those of its indices. Throws index_missing. */
export function withBoostedIndices(
  { indices }: ApiParts,
  body: JsonObject,
  options: ResolveOptions,
): JsonObject {
  const given = body["indices_boost"];
  if (given === undefined) return body;
  const expand = (part: unknown): unknown => {
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, boost]) =>
        indices.resolve(name, options).map((index) => [index.name, boost] as const),
      ),
    );
  };
  return { ...body, indices_boost: Array.isArray(given) ? given.map(expand) : expand(given) };
}
