/** `_cat/indices`. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import { resolveOptions } from "#hub/api/parameters/resolve-options.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { indexHealth } from "#hub/api/stats/index-health.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { CatTable, Row } from "./table.ts";

export const indicesTable: CatTable = {
  name: "indices",
  paths: ["/_cat/indices", "/_cat/indices/{index}"],
  params: ["health", "pri", "ignore_unavailable", "expand_wildcards", "allow_no_indices"],
  summary: "Indices with their health and size.",
  columns: [
    { name: "health", aliases: ["h"], help: "current health status" },
    { name: "status", aliases: ["s"], help: "open/close status" },
    { name: "index", aliases: ["i", "idx"], help: "index name" },
    { name: "uuid", aliases: ["id"], help: "index uuid" },
    {
      name: "pri",
      aliases: ["p", "shards.primary", "shardsPrimary"],
      help: "number of primary shards",
      right: true,
    },
    {
      name: "rep",
      aliases: ["r", "shards.replica", "shardsReplica"],
      help: "number of replica shards",
      right: true,
    },
    { name: "docs.count", aliases: ["dc", "docsCount"], help: "available docs", right: true },
    { name: "docs.deleted", aliases: ["dd", "docsDeleted"], help: "deleted docs", right: true },
    { name: "creation.date", aliases: ["cd"], help: "index creation date (millisecond value)", hidden: true },
    { name: "creation.date.string", aliases: ["cds"], help: "index creation date (as string)", hidden: true },
    {
      name: "store.size",
      aliases: ["ss", "storeSize"],
      help: "store size of primaries & replicas",
      right: true,
    },
    { name: "pri.store.size", help: "store size of primaries", right: true },
    {
      name: "segments.count",
      aliases: ["sc", "segmentsCount"],
      help: "number of segments",
      hidden: true,
      right: true,
    },
  ],
  rows(parts, request) {
    const wanted = request.query["health"];
    const found = parts.indices.resolve(
      request.path["index"],
      resolveOptions(request, { expandWildcards: "all" }),
    );
    return found
      .map((index) => rowOf(parts, index))
      .filter((row) => wanted === undefined || row["health"] === wanted);
  },
};

function rowOf({ shards }: ApiParts, index: IndexInfo): Row {
  const { settings } = index;
  const stats = index.state === "open" ? shards.stats(index) : [];
  const isOpen = index.state === "open";
  const sum = (of: (shard: (typeof stats)[number]) => number): number =>
    stats.reduce((total, each) => total + of(each), 0);
  // From 7.2 on the copies of a closed index are counted too.
  const isCounted = isOpen || answersAs(702);
  const size = isOpen ? { bytes: sum(({ bytes }) => bytes) } : null;
  return {
    health: isCounted ? indexHealth(index).status : null,
    status: index.state,
    index: index.name,
    uuid: index.uuid,
    pri: isCounted ? settings.numberOfShards : null,
    rep: isCounted ? settings.numberOfReplicas : null,
    "docs.count": isOpen ? sum(({ docs }) => docs) : null,
    "docs.deleted": isOpen ? sum(({ deleted }) => deleted) : null,
    "creation.date": settings.creationDate,
    "creation.date.string": new Date(settings.creationDate).toISOString(),
    "store.size": size,
    "pri.store.size": size,
    "segments.count": isOpen ? sum(({ segments }) => segments) : null,
  };
}
