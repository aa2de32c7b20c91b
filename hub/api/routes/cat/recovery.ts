/** `_cat/recovery`: how shards came to be; all are done before the hub answers. */

import { resolveOptions } from "#hub/api/parameters/resolve-options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { CatTable, Row } from "./table.ts";

/** Cells of a progress that is at its end. */
function done(prefix: string, count: number): Row {
  return {
    [prefix]: count,
    [`${prefix}_recovered`]: 0,
    [`${prefix}_percent`]: "100.0%",
    [`${prefix}_total`]: count,
  };
}

export const recoveryTable: CatTable = {
  name: "recovery",
  paths: ["/_cat/recovery", "/_cat/recovery/{index}"],
  summary: "How shards came to be.",
  columns: [
    { name: "index", aliases: ["i", "idx"], help: "index name" },
    { name: "shard", aliases: ["s", "sh"], help: "shard name" },
    { name: "start_time", aliases: ["start"], help: "recovery start time", hidden: true },
    { name: "start_time_millis", aliases: ["start_millis"], help: "start time, epoch ms", hidden: true },
    { name: "stop_time", aliases: ["stop"], help: "recovery stop time", hidden: true },
    { name: "stop_time_millis", aliases: ["stop_millis"], help: "stop time, epoch ms", hidden: true },
    { name: "time", aliases: ["t", "ti"], help: "recovery time" },
    { name: "type", aliases: ["ty"], help: "recovery type" },
    { name: "stage", aliases: ["st"], help: "recovery stage" },
    { name: "source_host", aliases: ["shost"], help: "source host" },
    { name: "source_node", aliases: ["snode"], help: "source node name" },
    { name: "target_host", aliases: ["thost"], help: "target host" },
    { name: "target_node", aliases: ["tnode"], help: "target node name" },
    { name: "repository", aliases: ["rep"], help: "repository" },
    { name: "snapshot", aliases: ["snap"], help: "snapshot" },
    { name: "files", aliases: ["f"], help: "number of files to recover", right: true },
    { name: "files_recovered", aliases: ["fr"], help: "files recovered", right: true },
    { name: "files_percent", aliases: ["fp"], help: "percent of files recovered", right: true },
    { name: "files_total", aliases: ["tf"], help: "total number of files", right: true },
    { name: "bytes", aliases: ["b"], help: "number of bytes to recover", right: true },
    { name: "bytes_recovered", aliases: ["br"], help: "bytes recovered", right: true },
    { name: "bytes_percent", aliases: ["bp"], help: "percent of bytes recovered", right: true },
    { name: "bytes_total", aliases: ["tb"], help: "total number of bytes", right: true },
    { name: "translog_ops", aliases: ["to"], help: "number of translog ops to recover", right: true },
    { name: "translog_ops_recovered", aliases: ["tor"], help: "translog ops recovered", right: true },
    {
      name: "translog_ops_percent",
      aliases: ["top"],
      help: "percent of translog ops recovered",
      right: true,
    },
  ],
  params: ["active_only", "detailed"],
  rows({ indices, shards, cluster }, request) {
    if (request.flag("active_only") === true) return [];
    const [node] = cluster.nodes();
    const found = indices.resolve(request.path["index"], resolveOptions(request));
    const open = found.filter(({ state }) => state === "open" || answersAs(702));
    return open.flatMap((index) =>
      shards.stats(index).map(({ shard, docs, segments, bytes }): Row => {
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
          source_host: isNew ? "n/a" : node?.host,
          source_node: isNew ? "n/a" : node?.name,
          target_host: node?.host,
          target_node: node?.name,
          repository: "n/a",
          snapshot: "n/a",
          ...done("files", segments),
          ...done("bytes", bytes),
          ...done("translog_ops", 0),
        };
      }),
    );
  },
};
