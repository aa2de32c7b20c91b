/** `_cat/templates`. */

import { compileWildcard } from "#hub/search/regexp/wildcard.ts";
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
  ],
  rows({ indices }, request) {
    const pattern = compileWildcard(request.path["name"] ?? "*");
    return Object.entries(indices.templates())
      .filter(([name]) => pattern.matches(name))
      .map(([name, template]) => ({
        name,
        index_patterns: `[${template.index_patterns.join(", ")}]`,
        order: template.order,
        version: template.version,
      }));
  },
};
