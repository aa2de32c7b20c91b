/** What hubs report to each other on `transport.port`: one line of JSON each way. Format: README.md. */

import type { Static } from "typebox";
import { schemaFault, Type } from "#proto/kit/schema.ts";

/** Longest line, bytes. */
export const LONGEST_HELLO_BYTES = 8 * 1024;

/**
 * State of a hub's part of the cluster's store. `empty`: it has none. `founding`: it has decided to make one together with
 * the others. `formed`: its store has worked.
 */
export type StoreState = "empty" | "founding" | "formed";

const name = Type.String({ maxLength: 256 });

const schema = Type.Object(
  {
    version: Type.Literal(1),
    /** Random name of the process; a hub recognises itself by it. */
    process: name,
    /** node.name */
    node: name,
    /** cluster.name */
    cluster: name,
    /** UUID of the cluster that the data folder belongs to; empty: none yet. */
    id: name,
    /** Version of the program. */
    release: name,
    /** Port of the routes of its nats-server. */
    routePort: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Number of hubs that its settings name, itself included; 0: it has not found itself among them yet. */
    size: Type.Integer({ minimum: 0, maximum: 1_000 }),
    store: Type.Enum(["empty", "founding", "formed"]),
    /** Its part of the store works: the process is connected to it, and most servers have elected leaders. */
    led: Type.Boolean(),
    /** UUID of the single hub whose log the store gets; empty: none. Missing: the version doesn't have the field. */
    grows: Type.Optional(name),
  },
  { additionalProperties: true }, // of later versions
);

export type Hello = Omit<Static<typeof schema>, "store"> & { readonly store: StoreState };

export function encodeHello(hello: Hello): string {
  return `${JSON.stringify(hello)}\n`;
}

/** Throws an Error if `line` isn't a valid hello. */
export function decodeHello(line: string): Hello {
  const value = JSON.parse(line) as unknown;
  const fault = schemaFault(schema, value);
  if (fault !== undefined) throw new Error("this hub doesn't support its version");
  return value as Hello;
}
