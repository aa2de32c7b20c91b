/** `_cat/segments`. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import { resolveOptions } from "#hub/api/parameters/resolve-options.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { SEGMENT_VERSION } from "#hub/api/routes/indices/segments.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { CatTable, Row } from "./table.ts";

export const segmentsTable: CatTable = {
  name: "segments",
  paths: ["/_cat/segments", "/_cat/segments/{index}"],
  summary: "Segments of shards; sizes are their share of the shard's by documents.",
  columns: [
    { name: "index", aliases: ["i", "idx"], help: "index name" },
    { name: "shard", aliases: ["s", "sh"], help: "shard name" },
    { name: "prirep", aliases: ["p", "pr", "primaryOrReplica"], help: "primary or replica" },
    { name: "ip", help: "ip of node where it lives" },
    { name: "id", help: "unique id of node where it lives", hidden: true },
    { name: "segment", aliases: ["seg"], help: "segment name" },
    { name: "generation", aliases: ["g", "gen"], help: "segment generation", right: true },
    { name: "docs.count", aliases: ["dc", "docsCount"], help: "number of docs in segment", right: true },
    { name: "docs.deleted", aliases: ["dd", "docsDeleted"], help: "number of deleted docs", right: true },
    { name: "size", aliases: ["si"], help: "segment size in bytes", right: true },
    { name: "size.memory", aliases: ["sm", "sizeMemory"], help: "segment memory in bytes", right: true },
    { name: "committed", aliases: ["ic", "isCommitted"], help: "is segment committed" },
    { name: "searchable", aliases: ["is", "isSearchable"], help: "is segment searched" },
    { name: "version", aliases: ["v", "ver"], help: "version" },
    { name: "compound", aliases: ["ico", "isCompound"], help: "is segment compound" },
  ],
  rows(parts, request) {
    const found = parts.indices.resolve(request.path["index"], resolveOptions(request));
    const closed = found.find(({ state }) => state === "close");
    if (closed !== undefined)
      throw new AppError("index_closed", "closed", { data: { index: closed.name, index_uuid: closed.uuid } });
    return found.flatMap((index) => rowsOf(parts, index));
  },
};

function rowsOf({ shards, cluster }: ApiParts, index: IndexInfo): Row[] {
  const [node] = cluster.nodes();
  const stats = new Map(shards.stats(index).map((each) => [each.shard, each]));
  const opened = shards.searchers([index]);
  try {
    return opened.flatMap(({ shard, searcher }) => {
      const docs = searcher.segments.reduce((sum, { docCount }) => sum + docCount, 0);
      const bytes = stats.get(shard)?.bytes ?? 0;
      return searcher.segments.map(
        ({ docCount, liveCount }, at): Row => ({
          index: index.name,
          shard,
          prirep: "p",
          ip: node?.host,
          id: node?.id,
          segment: `_${at.toString(36)}`,
          generation: at,
          "docs.count": liveCount,
          "docs.deleted": docCount - liveCount,
          size: { bytes: Math.round((bytes * docCount) / docs) },
          "size.memory": 0,
          committed: bytes > 0,
          searchable: true,
          version: SEGMENT_VERSION,
          compound: true,
        }),
      );
    });
  } finally {
    for (const { searcher } of opened) searcher.close();
  }
}
