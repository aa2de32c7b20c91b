/** Addresses that only this machine reaches. */

import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4"); // IPv4-mapped forms of IPv6 (::ffff:127.0.0.1) are covered by it
LOOPBACK.addAddress("::1", "ipv6");

/** Returns true for `localhost` and for addresses of loopback; an IPv6 address may be in brackets, as in URLs. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  if (bare === "localhost") return true;
  const family = isIP(bare);
  return family !== 0 && LOOPBACK.check(bare, family === 4 ? "ipv4" : "ipv6");
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
