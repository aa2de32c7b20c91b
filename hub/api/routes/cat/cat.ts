/** `_cat`: the routes of its tables, and the tables of snapshot repositories and of the snapshots in one. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { Route } from "#hub/api/http/route.ts";
import { shardsOf } from "#hub/api/routes/snapshots/print-snapshot.ts";
import { openRepository } from "#hub/api/routes/snapshots/repository-routes.ts";
import {
  aliasesTable,
  componentTemplatesTable,
  countTable,
  healthTable,
  indicesTable,
  templatesTable,
} from "./index-tables.ts";
import { allocationTable, masterTable, nodeAttributesTable, pluginsTable } from "./node-tables.ts";
import { nodesTable } from "./nodes.ts";
import { fielddataTable, recoveryTable, segmentsTable, shardsTable } from "./shard-tables.ts";
import { type CatTable, catRoute, column, HIDDEN, RIGHT } from "./table.ts";
import { pendingTasksTable, tasksTable, threadPoolTable } from "./task-tables.ts";

const repositoriesTable: CatTable = {
  paths: ["/_cat/repositories"],
  summary: "Lists snapshot repositories.",
  action: "administer",
  columns: [column("id", "id,repoId", "unique repository id"), column("type", "t,type", "repository type")],
  rows: ({ repositories }) => [...(repositories?.all() ?? [])].map(([id, { type }]) => ({ id, type })),
};

const snapshotsTable: CatTable = {
  paths: ["/_cat/snapshots", "/_cat/snapshots/{repository}"],
  params: ["ignore_unavailable"],
  summary: "Lists the snapshots of repositories.",
  action: "administer",
  columns: [
    column("id", "id,snapshot", "unique snapshot"),
    column("repository", "re,repo", "repository name", { hidden: true, from: 800 }),
    column("status", "s,status", "snapshot status", RIGHT),
    column("start_epoch", "ste,startEpoch", "start time in seconds since 1970-01-01 00:00:00", RIGHT),
    column("start_time", "sti,startTime", "start time in HH:MM:SS", RIGHT),
    column("end_epoch", "ete,endEpoch", "end time in seconds since 1970-01-01 00:00:00", RIGHT),
    column("end_time", "eti,endTime", "end time in HH:MM:SS", RIGHT),
    column("duration", "dur,duration", "duration", RIGHT),
    column("indices", "i,indices", "number of indices", RIGHT),
    column("successful_shards", "ss,successful_shards", "number of successful shards", RIGHT),
    column("failed_shards", "fs,failed_shards", "number of failed shards", RIGHT),
    column("total_shards", "ts,total_shards", "number of total shards", RIGHT),
    column("reason", "r,reason", "reason for failures", HIDDEN),
  ],
  async rows(parts, request) {
    const given = request.path["repository"];
    const names =
      given === undefined || given === "_all"
        ? [...(parts.repositories?.all().keys() ?? [])]
        : given.split(",");
    const found = [];
    for (const repository of names)
      for (const record of await openRepository(parts, repository).all()) found.push({ repository, record });
    return found.map(({ repository, record }) => {
      const endMs = record.endMs === 0 ? record.startMs : record.endMs;
      const shards = shardsOf(record);
      return {
        id: record.snapshot,
        repository,
        status: record.state,
        start_epoch: Math.floor(record.startMs / 1000),
        start_time: clock(record.startMs),
        end_epoch: Math.floor(endMs / 1000),
        end_time: clock(endMs),
        duration: { ms: endMs - record.startMs },
        indices: record.indices.length,
        successful_shards: shards,
        failed_shards: 0,
        total_shards: shards,
        reason: record.failure,
      };
    });
  },
};

const TABLES: readonly CatTable[] = [
  aliasesTable,
  allocationTable,
  componentTemplatesTable,
  countTable,
  fielddataTable,
  healthTable,
  indicesTable,
  masterTable,
  nodesTable,
  nodeAttributesTable,
  pendingTasksTable,
  pluginsTable,
  recoveryTable,
  repositoriesTable,
  segmentsTable,
  shardsTable,
  snapshotsTable,
  tasksTable,
  templatesTable,
  threadPoolTable,
];

export function catRoutes(api: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_cat"],
      params: ["help", "s"],
      action: "monitor",
      summary: "Lists the tables.",
      handle: () => ({
        status: 200,
        text: `=^.^=\n${TABLES.flatMap(({ paths }) => paths)
          .map((path) => `${path}\n`)
          .join("")}`,
      }),
    },
    ...TABLES.map((table) => catRoute(table, api)),
  ];
}

/** Returns HH:MM:SS, UTC. */
function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
