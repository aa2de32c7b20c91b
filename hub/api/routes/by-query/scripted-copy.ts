/** The scripts of `_update_by_query` and `_reindex`: what they may change in a document and in its destination. */

import { jsonBytes, parsed, runChange } from "#hub/api/context/scripted-change.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { Script } from "#hub/scripts/script.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type FoundDocument, storedSource } from "./change-by-query.ts";

/** Fields for a document's origin and destination, as a script sees them. */
const PLACE = ["_index", "_type", "_id", "_version", "_routing"] as const;
type Place = (typeof PLACE)[number];
const KNOWN: ReadonlySet<string> = new Set([...PLACE, "op", "_source", "_now"]);
const OPERATIONS: ReadonlySet<unknown> = new Set(["noop", "index", "delete"]);

/** The result of a script for a document. */
export interface ScriptedCopy {
  readonly operation: "index" | "delete";
  readonly source: Uint8Array;
  /** The fields of its destination that changed. */
  readonly moved: Partial<Record<Place, unknown>>;
}

/**
 * Runs a script on a found document; undefined: the document is left unchanged. Fields of its destination that aren't
 * in `movable` must not change. Throws script_failed, request_invalid.
 */
export function scriptedCopy(
  script: Script,
  found: FoundDocument,
  movable: readonly Place[],
): ScriptedCopy | undefined {
  const place: Record<Place, unknown> = {
    _index: found.index,
    _type: found.type ?? "_doc",
    _id: found.id,
    _version: found.version ?? -1,
    _routing: found.routing ?? null,
  };
  const ctx = runChange(script, { ...place, op: "index", _source: parsed(storedSource(found)) });
  const moved = movedIn(ctx, place, movable);
  const { op } = ctx;
  if (!OPERATIONS.has(op)) {
    const message = `Operation type [${String(op)}] not allowed, only [noop, index, delete] are allowed`;
    throw new AppError("request_invalid", message);
  }
  const added = Object.keys(ctx).filter((name) => !KNOWN.has(name));
  if (added.length > 0)
    throw new AppError("request_invalid", `Invalid fields added to context [${added.join(",")}]`);
  if (op === "noop") return undefined;
  return { operation: op as "index" | "delete", source: jsonBytes(ctx["_source"]), moved };
}

function movedIn(
  ctx: JsonObject,
  place: Readonly<Record<Place, unknown>>,
  movable: readonly Place[],
): Partial<Record<Place, unknown>> {
  const moved: Partial<Record<Place, unknown>> = {};
  for (const name of PLACE) {
    const value = ctx[name] ?? null;
    if (value === place[name]) continue;
    if (!movable.includes(name)) throw new AppError("request_invalid", `Modifying [${name}] not allowed`);
    moved[name] = value;
  }
  return moved;
}

/** Returns the write of a changed document under its own index and id. */
export function writeInPlace(
  { operation, source }: ScriptedCopy,
  place: Omit<Extract<WriteItem, { kind: "delete" }>, "kind">,
): WriteItem {
  return operation === "delete" ? { ...place, kind: "delete" } : { ...place, kind: "index", source };
}
