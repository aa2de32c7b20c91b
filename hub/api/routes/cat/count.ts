/** `_cat/count`. */

import { resolveOptions } from "#hub/api/parameters/resolve-options.ts";
import { clockCells, clockColumns } from "./clock-columns.ts";
import type { CatTable } from "./table.ts";

export const countTable: CatTable = {
  name: "count",
  paths: ["/_cat/count", "/_cat/count/{index}"],
  params: ["ignore_unavailable"],
  summary: "How many documents there are.",
  columns: [
    ...clockColumns,
    { name: "count", aliases: ["dc", "docs.count", "docsCount"], help: "the document count" },
  ],
  rows({ indices, shards, clock }, request) {
    const searchers = shards.searchers(indices.resolve(request.path["index"], resolveOptions(request)));
    try {
      const count = searchers.reduce((sum, { searcher }) => sum + searcher.totalDocs, 0);
      return [{ ...clockCells(clock.now()), count }];
    } finally {
      for (const { searcher } of searchers) searcher.close();
    }
  },
};
