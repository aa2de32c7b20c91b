/** Where a nested object is within its document, and its own part of that document. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { NestedScope } from "#hub/search/query/nested-scope.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Returns `_nested` of an object: the field and the number of it, and of each object below, from the outermost. */
export function nestedIdentity(scope: NestedScope, segment: SegmentReader, doc: number): JsonObject {
  let inner: JsonObject | undefined;
  let [level, objects, object] = [scope, segment, doc];
  for (; level.above !== undefined; level = level.above) {
    const place = level.placeOf(objects, object);
    const prefix = level.above.path === "" ? 0 : level.above.path.length + 1;
    inner = {
      field: level.path.slice(prefix),
      offset: place.offset,
      ...(inner !== undefined && { _nested: inner }),
    };
    [objects, object] = [place.segment, place.parent];
  }
  return inner ?? {};
}

/** Returns the object at `path` of a document that holds one object there. */
export function nestedPart(document: JsonObject, path: string): JsonObject {
  let part: unknown = document;
  for (const name of path.split(".")) part = isObject(part) ? part[name] : undefined;
  return isObject(part) ? part : {};
}
