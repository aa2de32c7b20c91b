/** `_cat/allocation`: shards and disk space by node. */

import { meantNodes } from "#hub/api/routes/cluster/nodes.ts";
import { diskFigures } from "#hub/api/stats/disk-usage.ts";
import type { CatTable, Row } from "./table.ts";

export const allocationTable: CatTable = {
  name: "allocation",
  paths: ["/_cat/allocation", "/_cat/allocation/{nodes}"],
  summary: "Shards and disk space by node.",
  columns: [
    { name: "shards", aliases: ["s"], help: "number of shards on node", right: true },
    {
      name: "disk.indices",
      aliases: ["di", "diskIndices"],
      help: "disk used by the indices",
      right: true,
    },
    { name: "disk.used", aliases: ["du", "diskUsed"], help: "disk used, not just by indices", right: true },
    { name: "disk.avail", aliases: ["da", "diskAvail"], help: "disk available", right: true },
    { name: "disk.total", aliases: ["dt", "diskTotal"], help: "total capacity", right: true },
    { name: "disk.percent", aliases: ["dp", "diskPercent"], help: "percent disk used", right: true },
    { name: "host", aliases: ["h"], help: "host of node" },
    { name: "ip", help: "ip of node" },
    { name: "node", aliases: ["n"], help: "name of node" },
  ],
  rows({ cluster, indices, shards, dataFolder }, request) {
    const [self] = cluster.nodes();
    const open = indices.all().filter(({ state }) => state === "open");
    const stats = open.flatMap((index) => shards.stats(index));
    const disk = diskFigures(dataFolder);
    const used = disk.total_in_bytes - disk.free_in_bytes;
    const rows = meantNodes(cluster.nodes(), request.path["nodes"]).map((node): Row => {
      const named = { host: node.host, ip: node.host, node: node.name };
      // Only of this node; another one's disk is in its own answers.
      if (node.id !== self?.id) return { shards: 0, ...named };
      return {
        shards: stats.length,
        "disk.indices": { bytes: stats.reduce((sum, { bytes }) => sum + bytes, 0) },
        "disk.used": { bytes: used },
        "disk.avail": { bytes: disk.available_in_bytes },
        "disk.total": { bytes: disk.total_in_bytes },
        "disk.percent": Math.round((used / disk.total_in_bytes) * 100),
        ...named,
      };
    });
    const unassigned = open.reduce(
      (sum, { settings }) => sum + settings.numberOfShards * settings.numberOfReplicas,
      0,
    );
    const isAll = request.path["nodes"] === undefined || request.path["nodes"] === "*";
    return unassigned > 0 && isAll ? [...rows, { shards: unassigned, node: "UNASSIGNED" }] : rows;
  },
};
