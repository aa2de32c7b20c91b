/** Addresses that only this machine reaches. */

import { AddressSet } from "./address-set.ts";
import { plainHost } from "./host.ts";

const LOOPBACK = new AddressSet(["127.0.0.0/8", "::1"]);

/** Returns true for `localhost` and for addresses of loopback; an IPv6 address may be in brackets, as in URLs. */
export function isLoopbackHost(host: string): boolean {
  const bare = plainHost(host).toLowerCase();
  return bare === "localhost" || LOOPBACK.has(bare);
}

/** Returns true where `url` is an http address of this machine, which may be called without TLS. */
export function isLoopbackHttp(url: string | URL): boolean {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  return parsed?.protocol === "http:" && isLoopbackHost(parsed.hostname);
}

/** Returns the address at which this machine reaches a listener on `host`, which may be that of all addresses. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
