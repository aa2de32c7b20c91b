/** `require_alias`: a write that names an index by mistake must not make one. */

import type { Indices } from "#hub/api/ports/indices.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns why a write to `name` is refused that wants an alias or a data stream; undefined where it is one. */
export function aliasFault(indices: Pick<Indices, "all">, name: string): AppError | undefined {
  const isThere = indices
    .all()
    .some(({ aliases, dataStream }) => Object.hasOwn(aliases, name) || dataStream === name);
  if (isThere) return undefined;
  return new AppError(
    "index_missing",
    `no such index [${name}] and [require_alias] request flag is [true] and [${name}] is not an alias`,
    { data: { index: name } },
  );
}
