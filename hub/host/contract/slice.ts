/** Sliced scrolls: each of several readers gets its part of the documents, divided by shard first, then by id. */

import type { IdSlice } from "#hub/search/execute/nodes/slice.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { integer, readOptions, required, text } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";

const OPTIONS = {
  id: required(integer("number of this part, from 0", undefined)),
  max: required(integer("number of parts", undefined)),
  field: text("accepted; parts are made by shard and id", undefined),
} as const;

export interface Slice {
  readonly id: number;
  readonly max: number;
}

/** Reads the option `slice`; `limit` is the largest number of parts. Throws parsing, request_invalid. */
export function parseSlice(json: unknown, limit: number): Slice | undefined {
  if (json === undefined) return undefined;
  const { id, max } = readOptions("slice", objectOf(json, "slice"), OPTIONS, "option");
  if (max <= 1) throw new AppError("request_invalid", "max must be greater than 1");
  if (id >= max) throw new AppError("request_invalid", "max must be greater than id");
  if (max <= limit) return { id, max };
  throw new AppError(
    "window_too_large",
    `The number of slices [${max}] is too large. It must be less than [${limit}]. This limit can be set by changing the [index.max_slices_per_scroll] index level setting.`,
  );
}

/** Returns what of a shard belongs to a part; undefined: everything, null: nothing. `shards`: number of shards of its index. */
export function partOf(shard: number, shards: number, { id, max }: Slice): IdSlice | null | undefined {
  if (max <= shards) return shard % max === id ? undefined : null;
  if (id % shards !== shard) return null;
  // Each shard is divided into as many parts as are assigned to it.
  const parts = Math.floor(max / shards) + (shard < max % shards ? 1 : 0);
  return parts === 1 ? undefined : { part: Math.floor(id / shards), parts };
}
