/** Sliced scrolls: each of several readers gets its part of the documents, by shard first, then by id. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode, SetNode } from "#hub/search/execute/nodes/documents.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { integer, readOptions, required, text } from "#hub/search/options/options.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import type { Query } from "#hub/search/query/query.ts";
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

/** Returns the shards restricted to a part. */
export function slicedShards(shards: readonly SearchShard[], { id, max }: Slice): SearchShard[] {
  const counts = new Map<string, number>();
  for (const { index } of shards) counts.set(index.name, (counts.get(index.name) ?? 0) + 1);
  return shards.map((shard) => {
    const count = counts.get(shard.index.name)!;
    const part = partOf(shard.shard, count, id, max);
    if (part === undefined) return shard;
    const filter = shard.filter === undefined ? part : new BooleanNode({ filter: [shard.filter, part] });
    return { ...shard, filter };
  });
}

/** What of a shard belongs to a part; undefined: all of it. */
function partOf(shard: number, shards: number, id: number, max: number): Query | undefined {
  if (max <= shards) return shard % max === id ? undefined : new NoneNode();
  if (id % shards !== shard) return new NoneNode();
  // Each shard is cut into as many parts as fall to it.
  const parts = Math.floor(max / shards) + (shard < max % shards ? 1 : 0);
  return parts === 1 ? undefined : new IdSliceNode(Math.floor(id / shards), parts);
}

class IdSliceNode extends SetNode {
  readonly #part: number;
  readonly #parts: number;

  constructor(part: number, parts: number) {
    super();
    this.#part = part;
    this.#parts = parts;
  }

  protected select(segment: SegmentReader): Bitset {
    const set = new Bitset(segment.docCount);
    for (let doc = 0; doc < segment.docCount; doc++)
      if (hash(segment.id(doc)) % this.#parts === this.#part) set.add(doc);
    return set;
  }
}

/** FNV-1a with a last mixing. */
function hash(id: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) state = Math.imul(state ^ id.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (state ^ (state >>> 13)) >>> 0;
}
