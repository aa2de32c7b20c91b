/** `_cat/aliases`. */

import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { CatTable } from "./table.ts";

export const aliasesTable: CatTable = {
  name: "aliases",
  paths: ["/_cat/aliases", "/_cat/aliases/{name}"],
  summary: "Aliases with their indices.",
  columns: [
    { name: "alias", aliases: ["a"], help: "alias name" },
    { name: "index", aliases: ["i", "idx"], help: "index alias points to" },
    { name: "filter", aliases: ["f", "fi"], help: "filter" },
    { name: "routing.index", aliases: ["ri", "routingIndex"], help: "index routing" },
    { name: "routing.search", aliases: ["rs", "routingSearch"], help: "search routing" },
    { name: "is_write_index", aliases: ["w", "isWriteIndex"], help: "write index", from: 704 },
  ],
  rows({ indices }, request) {
    const patterns = (request.list("name") ?? ["*"]).map((pattern) => compileWildcard(pattern));
    return indices.all().flatMap((index) =>
      Object.entries(index.aliases)
        .filter(([alias]) => patterns.some((pattern) => pattern.matches(alias)))
        .map(([alias, info]) => ({
          alias,
          index: index.name,
          filter: info.filter === undefined ? "-" : "*",
          "routing.index": info.index_routing ?? "-",
          "routing.search": info.search_routing ?? "-",
          is_write_index: info.is_write_index ?? "-",
        })),
    );
  },
};
