/**
 * Refuses what `index.blocks.*` of an index forbid; writes also by `action.auto_create_index` of the cluster if the index
 * doesn't exist, and by `require_alias`, which keeps a mistyped name from creating an index.
 */

import { creationFault } from "#hub/api/parameters/cluster-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Documents } from "#hub/api/ports/documents.ts";
import type { IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { backingIndices } from "#hub/cluster/catalog/data-streams.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";

/** What a block forbids. `delete` is only for the deletion of the index. */
export type BlockLevel = "read" | "write" | "metadata_read" | "metadata_write" | "delete";

export interface IndexBlock {
  readonly setting: string;
  readonly id: string;
  readonly description: string;
  readonly levels: readonly BlockLevel[];
}

/** Of the block that a hub sets where its disk is full. */
const FULL_DISK_ID = "12";

export const INDEX_BLOCKS: readonly IndexBlock[] = [
  {
    setting: "blocks.read_only",
    id: "5",
    description: "index read-only (api)",
    levels: ["write", "metadata_write", "delete"],
  },
  { setting: "blocks.read", id: "7", description: "index read (api)", levels: ["read"] },
  { setting: "blocks.write", id: "8", description: "index write (api)", levels: ["write"] },
  {
    setting: "blocks.metadata",
    id: "9",
    description: "index metadata (api)",
    levels: ["metadata_read", "metadata_write", "delete"],
  },
  {
    setting: "blocks.read_only_allow_delete",
    id: FULL_DISK_ID,
    description: "index read-only / allow delete (api)",
    levels: ["write", "metadata_write"],
  },
];

/** Returns the blocks that are set on an index. */
export function blocksOf({ settings: { raw } }: Pick<IndexInfo, "settings">): readonly IndexBlock[] {
  return INDEX_BLOCKS.filter(({ setting }) => raw[setting] !== undefined && isTrue(raw[setting]));
}

/** Throws forbidden if one of the indices has a block of this level. */
export function checkBlocks(indices: readonly IndexInfo[], level: BlockLevel): void {
  for (const index of indices) {
    const fault = blockFault(index, level);
    if (fault !== undefined) throw fault;
  }
}

/**
 * Wraps `documents` so that reads of blocked indices and writes to them are refused, and writes to indices that a client's
 * write must not create.
 */
export function blockDocuments(documents: Documents, indices: Indices, cluster: Cluster): Documents {
  const blockOf = (name: string): AppError | undefined =>
    writeFault(cluster, name, writeIndex(indices, name));
  return {
    async get(name, id, options) {
      const index = indices.get(name);
      checkBlocks(index === undefined ? indices.resolve(name, {}) : [index], "read");
      return documents.get(name, id, options);
    },
    append: (run, options) =>
      blockOf(run.indexNames[0]!) === undefined ? documents.append(run, options) : Promise.resolve(null),
    async write(items, options) {
      const blocks = new Map<string, AppError | undefined>();
      for (const { index } of items) if (!blocks.has(index)) blocks.set(index, blockOf(index));
      const open = items.filter(({ index }) => blocks.get(index) === undefined);
      const written = open.length === 0 ? [] : await documents.write(open, options);
      if (open.length === items.length) return written;
      let next = 0;
      return items.map(({ index, id }): WriteResult => {
        const error = blocks.get(index);
        return error === undefined ? written[next++]! : { index, id, error };
      });
    },
  };
}

function blockFault(index: IndexInfo, level: BlockLevel): AppError | undefined {
  const found = blocksOf(index).filter(({ levels }) => levels.includes(level));
  if (found.length === 0) return undefined;
  // From 7.x on clients are asked to come again where the disk is full, unless another block is set too.
  const isPassing = (block: IndexBlock): boolean => block.id === FULL_DISK_ID && answersAs(700);
  const reasons = found.map((block) => {
    const status = isPassing(block) ? "TOO_MANY_REQUESTS" : "FORBIDDEN";
    return `[${status}/${block.id}/${block.description}];`;
  });
  const status = found.every(isPassing) ? { status: 429 } : {};
  const data = { type: "cluster_block_exception", ...status };
  return new AppError("forbidden", `blocked by: ${reasons.join("")}`, { data });
}

/** Returns why a client may not write to `name`: a block of its `index`, or that it may not create the missing index. */
export function writeFault(
  cluster: Cluster,
  name: string,
  index: IndexInfo | undefined,
): AppError | undefined {
  return index === undefined ? creationFault(cluster, name) : blockFault(index, "write");
}

/** Returns the index that receives writes to a name, alias or data stream; undefined if there is none. */
export function writeIndex(indices: Pick<Indices, "get" | "all">, name: string): IndexInfo | undefined {
  const index = indices.get(name);
  if (index !== undefined) return index;
  const all = indices.all();
  const stream = backingIndices(all, name).at(-1);
  if (stream !== undefined) return stream;
  const found = all.filter(({ aliases }) => Object.hasOwn(aliases, name));
  return found.find(({ aliases }) => aliases[name]?.is_write_index === true) ?? found[0];
}

/** Returns why a write that requires an alias is refused for `name`; undefined if `name` is an alias or a data stream. */
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
