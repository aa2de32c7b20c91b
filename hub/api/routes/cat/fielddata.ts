/** `_cat/fielddata`: text fields that were uninverted for sorting. */

import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { CatTable } from "./table.ts";

export const fielddataTable: CatTable = {
  name: "fielddata",
  paths: ["/_cat/fielddata", "/_cat/fielddata/{fields}"],
  params: ["fields"],
  summary:
    "Memory of text fields that were sorted by; values of other fields are read from columns, which take none.",
  columns: [
    { name: "id", help: "node id" },
    { name: "host", aliases: ["h"], help: "host name" },
    { name: "ip", help: "ip address" },
    { name: "node", aliases: ["n"], help: "node name" },
    { name: "field", aliases: ["f"], help: "field name" },
    { name: "size", help: "field data usage", right: true },
  ],
  rows({ cluster, indices, shards }, request) {
    const [node] = cluster.nodes();
    const patterns = (request.path["fields"]?.split(",") ?? request.list("fields"))?.map(compileWildcard);
    const sums = new Map<string, number>();
    for (const { fieldData } of indices.all().flatMap((index) => shards.stats(index))) {
      for (const [field, bytes] of fieldData) sums.set(field, (sums.get(field) ?? 0) + bytes);
    }
    return [...sums]
      .filter(([field]) => patterns?.some((pattern) => pattern.matches(field)) ?? true)
      .map(([field, bytes]) => ({
        id: node?.id,
        host: node?.host,
        ip: node?.host,
        node: node?.name,
        field,
        size: { bytes },
      }));
  },
};
