/** `_cat`: the routes of its tables. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { Route } from "#hub/api/http/route.ts";
import {
  aliasesTable,
  componentTemplatesTable,
  countTable,
  healthTable,
  indicesTable,
  templatesTable,
} from "./index-tables.ts";
import {
  allocationTable,
  masterTable,
  nodeAttributesTable,
  nodesTable,
  pendingTasksTable,
  pluginsTable,
  tasksTable,
  threadPoolTable,
} from "./node-tables.ts";
import { fielddataTable, recoveryTable, segmentsTable, shardsTable } from "./shard-tables.ts";
import { repositoriesTable, snapshotsTable } from "./snapshot-tables.ts";
import { type CatTable, catRoute } from "./table.ts";

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
