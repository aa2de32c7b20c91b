/** `_cat/shards`. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import { resolveOptions } from "#hub/api/parameters/resolve-options.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { shardFigureColumns, shardFigures } from "./shard-columns.ts";
import type { CatTable, Row } from "./table.ts";

export const shardsTable: CatTable = {
  name: "shards",
  paths: ["/_cat/shards", "/_cat/shards/{index}"],
  params: ["ignore_unavailable"],
  summary: "Shards with their nodes.",
  columns: [
    { name: "index", aliases: ["i", "idx"], help: "index name" },
    { name: "shard", aliases: ["s", "sh"], help: "shard name" },
    { name: "prirep", aliases: ["p", "pr", "primaryOrReplica"], help: "primary or replica" },
    { name: "state", aliases: ["st"], help: "shard state" },
    { name: "docs", aliases: ["d", "dc"], help: "number of docs in shard", right: true },
    { name: "store", aliases: ["sto"], help: "store size of shard (how much disk it uses)", right: true },
    { name: "ip", help: "ip of node where it lives" },
    { name: "id", help: "unique id of node where it lives", hidden: true },
    { name: "node", aliases: ["n"], help: "name of node where it lives" },
    ...shardFigureColumns,
  ],
  rows: (parts, request) =>
    parts.indices
      .resolve(request.path["index"], resolveOptions(request, { expandWildcards: "open" }))
      .flatMap((index) => rowsOf(parts, index)),
};

function rowsOf({ shards, cluster }: ApiParts, index: IndexInfo): Row[] {
  const [node] = cluster.nodes();
  const since = new Date(index.settings.creationDate).toISOString();
  return shards.stats(index).flatMap((stats) => [
    {
      index: index.name,
      shard: stats.shard,
      prirep: "p",
      state: "STARTED",
      docs: stats.docs,
      store: { bytes: stats.bytes },
      ip: node?.host,
      id: node?.id,
      node: node?.name,
      ...shardFigures(stats),
    },
    ...Array.from({ length: index.settings.numberOfReplicas }, () => ({
      index: index.name,
      shard: stats.shard,
      prirep: "r",
      state: "UNASSIGNED",
      "unassigned.reason": "INDEX_CREATED",
      "unassigned.at": since,
    })),
  ]);
}
