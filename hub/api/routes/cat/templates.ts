/** `_cat/templates`. */

import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { CatTable } from "./table.ts";

export const templatesTable: CatTable = {
  name: "templates",
  paths: ["/_cat/templates", "/_cat/templates/{name}"],
  summary: "Templates with the names they fit.",
  columns: [
    { name: "name", aliases: ["n"], help: "template name" },
    { name: "index_patterns", aliases: ["t"], help: "template index patterns" },
    { name: "order", aliases: ["o"], help: "template application order number" },
    { name: "version", aliases: ["v"], help: "version" },
    {
      name: "composed_of",
      aliases: ["c"],
      help: "component templates comprising index template",
      from: 800,
    },
  ],
  rows({ indices }, request) {
    const pattern = compileWildcard(request.path["name"] ?? "*");
    const composable = indices.templateCatalog.set().templates;
    const older = Object.entries(indices.templates()).map(([name, { order, ...rest }]) => ({
      ...rest,
      name,
      order,
      composed_of: "",
    }));
    const newer = Object.entries(composable).map(([name, { priority, composed_of: parts, ...rest }]) => ({
      ...rest,
      name,
      order: priority,
      composed_of: printList(parts),
    }));
    return [...older, ...newer]
      .filter(({ name }) => pattern.matches(name))
      .map(({ name, index_patterns: patterns, order, version, composed_of }) => ({
        name,
        index_patterns: printList(patterns),
        order,
        version,
        composed_of,
      }));
  },
};

function printList(names: readonly string[]): string {
  return `[${names.join(", ")}]`;
}
