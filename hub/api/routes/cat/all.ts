/** `_cat`: the tables there are. */

import type { ApiParts } from "#hub/api/context/api-context.ts";
import type { Route } from "#hub/api/http/route.ts";
import { aliasesTable } from "./aliases.ts";
import { allocationTable } from "./allocation.ts";
import { countTable } from "./count.ts";
import { pendingTasksTable, pluginsTable } from "./empty-tables.ts";
import { fielddataTable } from "./fielddata.ts";
import { healthTable } from "./health.ts";
import { indicesTable } from "./indices.ts";
import { nodeAttributesTable } from "./node-attributes.ts";
import { masterTable, nodesTable } from "./nodes.ts";
import { recoveryTable } from "./recovery.ts";
import { segmentsTable } from "./segments.ts";
import { shardsTable } from "./shards.ts";
import { type CatTable, catRoute } from "./table.ts";
import { tasksTable } from "./tasks.ts";
import { templatesTable } from "./templates.ts";
import { threadPoolTable } from "./thread-pool.ts";

export const CAT_TABLES: readonly CatTable[] = [
  aliasesTable,
  allocationTable,
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
  segmentsTable,
  shardsTable,
  tasksTable,
  templatesTable,
  threadPoolTable,
];

export function catRoutes(parts: ApiParts): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_cat"],
      params: ["help", "s"],
      action: "monitor",
      summary: "Lists the tables.",
      handle: () => ({
        status: 200,
        text: `=^.^=\n${CAT_TABLES.flatMap(({ paths }) => paths)
          .map((path) => `${path}\n`)
          .join("")}`,
      }),
    },
    ...CAT_TABLES.map((table) => catRoute(table, parts)),
  ];
}
