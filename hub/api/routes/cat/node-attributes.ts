/** `_cat/nodeattrs`. */

import type { CatTable } from "./table.ts";

export const nodeAttributesTable: CatTable = {
  name: "nodeattrs",
  paths: ["/_cat/nodeattrs"],
  summary: "What the settings tell of each node: node.attr.<name>.",
  columns: [
    { name: "node", aliases: ["name"], help: "node name" },
    { name: "id", aliases: ["nodeId"], help: "unique node id", hidden: true },
    { name: "pid", aliases: ["p"], help: "process id", hidden: true },
    { name: "host", aliases: ["h"], help: "host name" },
    { name: "ip", aliases: ["i"], help: "ip address" },
    { name: "port", aliases: ["po"], help: "bound transport port", hidden: true },
    { name: "attr", aliases: ["attr.name"], help: "attribute description" },
    { name: "value", aliases: ["attr.value"], help: "attribute value" },
  ],
  rows: ({ cluster }) =>
    cluster.nodes().flatMap((node, at) =>
      Object.entries(node.attributes).map(([attr, value]) => ({
        node: node.name,
        id: node.id,
        pid: at === 0 ? process.pid : null,
        host: node.host,
        ip: node.host,
        port: node.transportAddress.split(":").at(-1),
        attr,
        value,
      })),
    ),
};
