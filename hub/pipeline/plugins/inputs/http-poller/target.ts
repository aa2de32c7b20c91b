/** A service that is asked: its address and how it is spoken to, from one entry of the option `urls`. */

import { isHash, valueText } from "#proto/event.ts";
import { isLoopbackHost } from "#proto/kit/loopback.ts";
import type { HttpPollerOptions } from "./options.ts";

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly user: string | undefined;
  readonly password: string;
  readonly connection: string | undefined;
}

/** Returns the service of an entry; what it doesn't say is as the options of the input say. */
export function targetOf(name: string, value: unknown, values: HttpPollerOptions): Target {
  const table = isHash(value) ? value : { url: value };
  const headers = isHash(table["headers"]) ? table["headers"] : {};
  const own = (key: string): string | undefined =>
    table[key] === undefined ? undefined : valueText(table[key]);
  return {
    name,
    url: own("url") ?? "",
    method: (own("method") ?? "get").toUpperCase(),
    headers: Object.fromEntries(Object.entries(headers).map(([key, item]) => [key, valueText(item)])),
    body: own("body"),
    user: own("user") ?? values.user,
    password: own("password") ?? values.password ?? "",
    connection: own("connection") ?? values.connection,
  };
}

/** Returns whether others can't read what is sent there: over TLS, or on this machine. */
export function isPrivateWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || isLoopbackHost(hostname);
}
