/**
 * Refuses writes: by `index.blocks.*` of the index; by `action.auto_create_index` of the cluster if the index doesn't
 * exist; and by `require_alias`, which keeps a mistyped name from creating an index.
 */

import { creationFault } from "#hub/api/parameters/cluster-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Documents } from "#hub/api/ports/documents.ts";
import type { IndexInfo, Indices } from "#hub/api/ports/indices.ts";
import { backingIndices } from "#hub/cluster/catalog/data-streams.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Settings that block writes, with the reasons that clients get. */
const BLOCKS: Readonly<Record<string, string>> = {
  "blocks.read_only": "FORBIDDEN/5/index read-only (api)",
  "blocks.read_only_allow_delete": "FORBIDDEN/12/index read-only / allow delete (api)",
  "blocks.write": "FORBIDDEN/8/index write (api)",
};

/**
 * Wraps `documents` so that writes to blocked indices are refused, and those to indices that a client's write must not
 * create.
 */
export function blockDocuments(documents: Documents, indices: Indices, cluster: Cluster): Documents {
  const blockOf = (name: string): AppError | undefined => {
    const index = writeIndex(indices, name);
    return index === undefined ? creationFault(cluster, name) : blockFault(index);
  };
  return {
    get: (index, id, options) => documents.get(index, id, options),
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

/** Returns why an index can't be changed; undefined if it can. */
function blockFault({ settings: { raw } }: IndexInfo): AppError | undefined {
  const reasons = Object.keys(BLOCKS).filter((key) => raw[key] !== undefined && isTrue(raw[key]));
  if (reasons.length === 0) return undefined;
  return new AppError("forbidden", `blocked by: [${reasons.map((key) => BLOCKS[key]).join("];[")}];`, {
    data: { type: "cluster_block_exception" },
  });
}

function writeIndex(indices: Indices, name: string): IndexInfo | undefined {
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
