/** Tables of things that there are none of: clients get their columns and no rows. */

import type { CatTable } from "./table.ts";

export const pendingTasksTable: CatTable = {
  name: "pending_tasks",
  paths: ["/_cat/pending_tasks"],
  summary: "Changes of the cluster's state that wait; each is done at once.",
  columns: [
    { name: "insertOrder", aliases: ["o"], help: "task insertion order", right: true },
    { name: "timeInQueue", aliases: ["t"], help: "how long task has been in queue", right: true },
    { name: "priority", aliases: ["p"], help: "task priority" },
    { name: "source", aliases: ["s"], help: "task source" },
  ],
  rows: () => [],
};

export const pluginsTable: CatTable = {
  name: "plugins",
  paths: ["/_cat/plugins"],
  summary: "Plugins of nodes; what there is, is built in.",
  columns: [
    { name: "id", help: "unique node id", hidden: true },
    { name: "name", aliases: ["n"], help: "node name" },
    { name: "component", aliases: ["c"], help: "component" },
    { name: "version", aliases: ["v"], help: "component version" },
    { name: "description", aliases: ["d"], help: "plugin details", hidden: true },
  ],
  rows: () => [],
};
