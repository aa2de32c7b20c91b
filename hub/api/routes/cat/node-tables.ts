/** Tables of `_cat` of what nodes are and hold: the master, attributes, shards and disk space, plugins. */

import { meantNodes } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { statsOn } from "#hub/api/stats/copy-stats.ts";
import { clusterHealth, type HealthSource, indexCopies } from "#hub/api/stats/index-health.ts";
import { diskCells } from "#hub/api/stats/machine.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { type CatTable, type Cell, column, HIDDEN, RIGHT, type Row } from "./table.ts";

export const masterTable: CatTable = {
  paths: ["/_cat/master", "/_cat/cluster_manager"],
  summary: "Shows the master node.",
  columns: [
    column("id", "", "node id"),
    column("host", "h", "host name"),
    column("ip", "", "ip address "),
    column("node", "n", "node name"),
  ],
  rows: ({ cluster }) =>
    cluster
      .nodes()
      .filter(({ master }) => master)
      .map(({ id, host, name }) => ({ id, host, ip: host, node: name })),
};

export const nodeAttributesTable: CatTable = {
  paths: ["/_cat/nodeattrs"],
  summary: "Lists the attributes of each node: its settings node.attr.<name>.",
  columns: [
    column("node", "name", "node name"),
    column("id", "nodeId", "unique node id", HIDDEN),
    column("pid", "p", "process id", HIDDEN),
    column("host", "h", "host name"),
    column("ip", "i", "ip address"),
    column("port", "po", "bound transport port", HIDDEN),
    column("attr", "attr.name", "attribute description"),
    column("value", "attr.value", "attribute value"),
  ],
  rows: ({ cluster }) =>
    cluster.nodes().flatMap((node, at) =>
      Object.entries(node.attributes).map(([attr, value]) => ({
        node: node.name,
        id: node.id,
        pid: at === 0 ? process.pid : null, // this node is the first
        host: node.host,
        ip: node.host,
        port: node.transportAddress.split(":").at(-1),
        attr,
        value,
      })),
    ),
};

export const allocationTable: CatTable = {
  paths: ["/_cat/allocation", "/_cat/allocation/{nodes}"],
  summary: "Shows shards and disk space by node.",
  columns: [
    column("shards", "s", "number of shards on node", RIGHT),
    column("disk.indices", "di,diskIndices", "disk used by the indices", RIGHT),
    column("disk.used", "du,diskUsed", "disk used, not just by indices", RIGHT),
    column("disk.avail", "da,diskAvail", "disk available", RIGHT),
    column("disk.total", "dt,diskTotal", "total capacity", RIGHT),
    column("disk.percent", "dp,diskPercent", "percent disk used", RIGHT),
    column("host", "h", "host of node"),
    column("ip", "", "ip of node"),
    column("node", "n", "name of node"),
  ],
  async rows(api, request) {
    const { cluster, indices, dataFolder } = api;
    const [self] = cluster.nodes();
    const open = indices.all().filter(({ state }) => state === "open");
    const stats = await api.shards.stats(open);
    const { usedShare, ...disk } = diskCells(dataFolder);
    const rows = meantNodes(cluster.nodes(), request.path["nodes"]).map(
      (node): Row => ({
        shards: shardsOn(node, open, cluster),
        "disk.indices": bytesOn(node, open, stats, cluster),
        // Only for this node; another node reports its own disk.
        ...(node.id === self?.id && { ...disk, "disk.percent": Math.round(usedShare * 100) }),
        host: node.host,
        ip: node.host,
        node: node.name,
      }),
    );
    const { unassigned } = clusterHealth(open, cluster);
    const isAll = request.path["nodes"] === undefined || request.path["nodes"] === "*";
    return unassigned > 0 && isAll ? [...rows, { shards: unassigned, node: "UNASSIGNED" }] : rows;
  },
};

/** Returns the number of copies that a node has, and of those that it receives without another node giving one up. */
function shardsOn({ id }: NodeInfo, open: readonly IndexInfo[], source: HealthSource): number {
  const copies = open.flatMap((index) => indexCopies(index, source));
  const nodes = copies.flatMap(({ started, initializing }) => [...started, ...initializing]);
  return nodes.filter((node) => node.id === id).length;
}

/** Returns the size of the copies that a node has; undefined if it isn't known. */
function bytesOn(
  node: NodeInfo,
  open: readonly IndexInfo[],
  stats: ReadonlyMap<string, readonly HostedShardStats[]>,
  source: HealthSource,
): Cell {
  let bytes = 0;
  for (const index of open) {
    const held = statsOn(node, index, stats.get(index.uuid) ?? [], source);
    if (held === undefined) return undefined;
    for (const copy of held) bytes += copy.bytes;
  }
  return { bytes };
}

export const pluginsTable: CatTable = {
  paths: ["/_cat/plugins"],
  summary: "Lists plugins of nodes, of which there are none: everything is built in.",
  columns: [
    column("id", "", "unique node id", HIDDEN),
    column("name", "n", "node name"),
    column("component", "c", "component"),
    column("version", "v", "component version"),
    column("description", "d", "plugin details", HIDDEN),
  ],
  rows: () => [],
};
