/** Tables of `_cat` with a row for each shard or segment. */

import { resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { SEGMENT_VERSION } from "#hub/api/routes/indices/segments.ts";
import { type CopyStats, copyNodes, copyStats, statsOn } from "#hub/api/stats/copy-stats.ts";
import { comingCopies, type HealthSource, indexCopies } from "#hub/api/stats/index-health.ts";
import { statCell } from "#hub/api/stats/statistics.ts";
import { fieldBytes, shardSource } from "#hub/api/stats/stats-source.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { ShardSegments } from "#hub/host/contract/calls.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { statCells, statColumns } from "./stat-columns.ts";
import { type CatTable, column, HIDDEN, HIDDEN_RIGHT, RIGHT, type Row } from "./table.ts";

const STATISTICS = statColumns(["request_cache", "suggest", "memory"]);

export const shardsTable: CatTable = {
  paths: ["/_cat/shards", "/_cat/shards/{index}"],
  params: ["ignore_unavailable"],
  summary: "Lists shards with their nodes.",
  columns: [
    column("index", "i,idx", "index name"),
    column("shard", "s,sh", "shard name"),
    column("prirep", "p,pr,primaryOrReplica", "primary or replica"),
    column("state", "st", "shard state"),
    column("docs", "d,dc", "number of docs in shard", RIGHT),
    column("store", "sto", "store size of shard (how much disk it uses)", RIGHT),
    column("ip", "", "ip of node where it lives"),
    column("id", "", "unique id of node where it lives", HIDDEN),
    column("node", "n", "name of node where it lives"),
    column("sync_id", "", "sync id; segments are the same on all copies without one", HIDDEN),
    column("unassigned.reason", "ur", "reason shard is unassigned", HIDDEN),
    column("unassigned.at", "ua", "time shard became unassigned (UTC)", HIDDEN),
    column("unassigned.for", "uf", "time has been unassigned", HIDDEN),
    column("unassigned.details", "ud", "additional details as to why the shard became unassigned", HIDDEN),
    column("recoverysource.type", "rs", "recovery source type", HIDDEN_RIGHT),
    ...STATISTICS.filter(({ name }) => !name.startsWith("warmer.")),
    column("seq_no.max", "sqm,maxSeqNo", "max sequence number", HIDDEN_RIGHT),
    column("seq_no.local_checkpoint", "sql,localCheckpoint", "local checkpoint", HIDDEN_RIGHT),
    column("seq_no.global_checkpoint", "sqg,globalCheckpoint", "global checkpoint", HIDDEN_RIGHT),
    ...STATISTICS.filter(({ name }) => name.startsWith("warmer.")),
  ],
  async rows({ indices, shards, cluster }, request) {
    const options = resolveOptions(request, { expandWildcards: "open" });
    const found = indices.resolve(request.path["index"], options);
    const stats = await shards.stats(found);
    return found.flatMap((index) => shardRows(index, stats.get(index.uuid) ?? [], cluster));
  },
};

function shardRows(index: IndexInfo, stats: readonly HostedShardStats[], source: HealthSource): Row[] {
  const since = new Date(index.settings.creationDate).toISOString();
  return indexCopies(index, source).flatMap((copies, shard) => {
    const found = copyStats(
      index,
      stats.filter((each) => each.shard === shard),
      source,
    );
    const { started, relocating, initializing, waiting, lost } = copies;
    const rest = [
      ...initializing.map((node) => ({ state: "INITIALIZING", ip: node.host, id: node.id, node: node.name })),
      ...Array.from({ length: waiting }, (_, at) => ({
        state: "UNASSIGNED",
        "unassigned.reason": at < lost.length ? "NODE_LEFT" : "INDEX_CREATED",
        "unassigned.at": since,
      })),
    ];
    const common = { index: index.name, shard };
    return [
      ...started.map((node, copy) => {
        const to = relocating.find(([from]) => from === node)?.[1];
        return {
          ...(found[copy] !== undefined && startedCells(found[copy].stats)),
          ...common,
          prirep: copy === 0 ? "p" : "r",
          state: to === undefined ? "STARTED" : "RELOCATING",
          ip: node.host,
          id: node.id,
          node: to === undefined ? node.name : `${node.name} -> ${to.host} ${to.id} ${to.name}`,
          "recoverysource.type": "EXISTING_STORE",
        };
      }),
      ...rest.map((cells, at) => ({
        ...common,
        prirep: started.length === 0 && at === 0 ? "p" : "r",
        ...cells,
      })),
    ];
  });
}

function startedCells(stats: HostedShardStats): Row {
  const source = shardSource(stats);
  return {
    ...statCells(source),
    docs: statCell(source, "docs.count"),
    store: statCell(source, "store.size"),
  };
}

export const segmentsTable: CatTable = {
  paths: ["/_cat/segments", "/_cat/segments/{index}"],
  summary: "Lists segments of shards; a size is the segment's share of the shard by documents.",
  columns: [
    column("index", "i,idx", "index name"),
    column("shard", "s,sh", "shard name"),
    column("prirep", "p,pr,primaryOrReplica", "primary or replica"),
    column("ip", "", "ip of node where it lives"),
    column("id", "", "unique id of node where it lives", HIDDEN),
    column("segment", "seg", "segment name"),
    column("generation", "g,gen", "segment generation", RIGHT),
    column("docs.count", "dc,docsCount", "number of docs in segment", RIGHT),
    column("docs.deleted", "dd,docsDeleted", "number of deleted docs", RIGHT),
    column("size", "si", "segment size in bytes", RIGHT),
    column("size.memory", "sm,sizeMemory", "segment memory in bytes", RIGHT),
    column("committed", "ic,isCommitted", "is segment committed"),
    column("searchable", "is,isSearchable", "is segment searched"),
    column("version", "v,ver", "version"),
    column("compound", "ico,isCompound", "is segment compound"),
  ],
  async rows({ indices, shards, cluster }, request) {
    const found = indices.resolve(request.path["index"], resolveOptions(request));
    const closed = found.find(({ state }) => state === "close");
    if (closed !== undefined)
      throw new AppError("index_closed", "closed", { data: { index: closed.name, index_uuid: closed.uuid } });
    const [stats, segments] = await Promise.all([shards.stats(found), shards.segments(found)]);
    return found.flatMap((index) =>
      segments
        .filter((each) => each.uuid === index.uuid)
        .flatMap((each) => {
          const { bytes = 0 } = stats.get(index.uuid)?.find(({ shard }) => shard === each.shard) ?? {};
          return copyNodes(index, each.shard, cluster).flatMap((node, copy) =>
            segmentRows(index.name, each, bytes, { node, isPrimary: copy === 0 }),
          );
        }),
    );
  },
};

/** `bytes`: size of the shard. */
function segmentRows(
  index: string,
  { shard, segments }: ShardSegments,
  bytes: number,
  { node, isPrimary }: Pick<CopyStats, "node" | "isPrimary">,
): Row[] {
  const all = segments.reduce((sum, { docs }) => sum + docs, 0);
  return segments.map(
    ({ docs, live }, at): Row => ({
      index,
      shard,
      prirep: isPrimary ? "p" : "r",
      ip: node.host,
      id: node.id,
      segment: `_${at.toString(36)}`,
      generation: at,
      "docs.count": live,
      "docs.deleted": docs - live,
      size: { bytes: Math.round((bytes * docs) / all) },
      "size.memory": 0,
      committed: bytes > 0,
      searchable: true,
      version: SEGMENT_VERSION,
      compound: true,
    }),
  );
}

/**
 * Copies of a hub recover from its disk before it answers requests. Copies being moved to a hub are active; their progress
 * is known at that hub alone.
 */
export const recoveryTable: CatTable = {
  paths: ["/_cat/recovery", "/_cat/recovery/{index}"],
  summary: "Shows how shards were recovered.",
  columns: [
    column("index", "i,idx", "index name"),
    column("shard", "s,sh", "shard name"),
    column("start_time", "start", "recovery start time", HIDDEN),
    column("start_time_millis", "start_millis", "start time, epoch ms", HIDDEN),
    column("stop_time", "stop", "recovery stop time", HIDDEN),
    column("stop_time_millis", "stop_millis", "stop time, epoch ms", HIDDEN),
    column("time", "t,ti", "recovery time"),
    column("type", "ty", "recovery type"),
    column("stage", "st", "recovery stage"),
    column("source_host", "shost", "source host"),
    column("source_node", "snode", "source node name"),
    column("target_host", "thost", "target host"),
    column("target_node", "tnode", "target node name"),
    column("repository", "rep", "repository"),
    column("snapshot", "snap", "snapshot"),
    column("files", "f", "number of files to recover", RIGHT),
    column("files_recovered", "fr", "files recovered", RIGHT),
    column("files_percent", "fp", "percent of files recovered", RIGHT),
    column("files_total", "tf", "total number of files", RIGHT),
    column("bytes", "b", "number of bytes to recover", RIGHT),
    column("bytes_recovered", "br", "bytes recovered", RIGHT),
    column("bytes_percent", "bp", "percent of bytes recovered", RIGHT),
    column("bytes_total", "tb", "total number of bytes", RIGHT),
    column("translog_ops", "to", "number of translog ops to recover", RIGHT),
    column("translog_ops_recovered", "tor", "translog ops recovered", RIGHT),
    column("translog_ops_percent", "top", "percent of translog ops recovered", RIGHT),
  ],
  params: ["active_only", "detailed"],
  async rows({ indices, shards, cluster }, request) {
    const found = indices.resolve(request.path["index"], resolveOptions(request));
    const open = found.filter(({ state }) => state === "open" || answersAs(702));
    const active = open.flatMap((index) => activeRows(index, cluster));
    if (request.flag("active_only") === true) return active;
    const stats = await shards.stats(open);
    const done = open.flatMap((index) =>
      copyStats(index, stats.get(index.uuid) ?? [], cluster).map(({ node, stats: found }): Row => {
        const { shard, docs, segments, bytes } = found;
        const isNew = docs === 0 && segments === 0 && index.state === "open";
        const { creationDate } = index.settings;
        return {
          index: index.name,
          shard,
          start_time: new Date(creationDate).toISOString(),
          start_time_millis: creationDate,
          stop_time: new Date(creationDate).toISOString(),
          stop_time_millis: creationDate,
          time: { ms: 0 },
          type: isNew ? "empty_store" : "existing_store",
          stage: "done",
          source_host: isNew ? "n/a" : node.host,
          source_node: isNew ? "n/a" : node.name,
          target_host: node.host,
          target_node: node.name,
          repository: "n/a",
          snapshot: "n/a",
          ...doneCells("files", segments),
          ...doneCells("bytes", bytes),
          ...doneCells("translog_ops", 0),
        };
      }),
    );
    return [...done, ...active];
  },
};

function activeRows(index: IndexInfo, source: HealthSource): Row[] {
  return comingCopies(index, source).map(({ shard, from, to }) => ({
    index: index.name,
    shard,
    type: "peer",
    stage: from === undefined ? "init" : "index",
    source_host: from?.host ?? "n/a",
    source_node: from?.name ?? "n/a",
    target_host: to.host,
    target_node: to.name,
    repository: "n/a",
    snapshot: "n/a",
  }));
}

/** Returns the cells of a completed progress. */
function doneCells(prefix: string, count: number): Row {
  return {
    [prefix]: count,
    [`${prefix}_recovered`]: 0,
    [`${prefix}_percent`]: "100.0%",
    [`${prefix}_total`]: count,
  };
}

export const fielddataTable: CatTable = {
  paths: ["/_cat/fielddata", "/_cat/fielddata/{fields}"],
  params: ["fields"],
  summary:
    "Shows the memory of text fields that were sorted by; values of other fields are read from columns, which take none.",
  columns: [
    column("id", "", "node id"),
    column("host", "h", "host name"),
    column("ip", "", "ip address"),
    column("node", "n", "node name"),
    column("field", "f", "field name"),
    column("size", "", "field data usage", RIGHT),
  ],
  async rows({ cluster, indices, shards }, request) {
    const patterns = (request.path["fields"]?.split(",") ?? request.list("fields"))?.map(compileWildcard);
    const stats = await shards.stats(indices.all());
    return cluster.nodes().flatMap((node) => {
      const held = indices
        .all()
        .flatMap((index) => statsOn(node, index, stats.get(index.uuid) ?? [], cluster) ?? []);
      return [...fieldBytes(held, "fieldData")]
        .filter(([field]) => patterns?.some((pattern) => pattern.matches(field)) ?? true)
        .map(([field, bytes]) => ({
          id: node.id,
          host: node.host,
          ip: node.host,
          node: node.name,
          field,
          size: { bytes },
        }));
    });
  },
};
