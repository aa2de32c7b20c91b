/**
 * Addresses that a webhook must not reach unless settings allow it: the hub's own machine, its network, and the metadata
 * services of clouds. Otherwise a rule could send requests to services that trust the hub's network (SSRF).
 */

import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { AppError } from "#proto/kit/errors.ts";

/** IANA special-purpose address registries: everything not globally reachable, and the forms that hold an IPv4 address. */
const PRIVATE: readonly (readonly [net: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["::", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

const blocked = new BlockList();
for (const [net, prefix] of PRIVATE) blocked.addSubnet(net, prefix, net.includes(":") ? "ipv6" : "ipv4");

/** Returns true for an address that isn't on the public internet, IPv4 in IPv6 as well. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return true;
  return blocked.check(address, version === 6 ? "ipv6" : "ipv4");
}

/**
 * Looks a name up and refuses private addresses. As the connection is made to the very address that was checked, a
 * name that answers differently the second time (DNS rebinding) gains nothing.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, []);
    const found = addresses.find(({ address }) => isPrivateAddress(address));
    if (found !== undefined) return callback(refused(hostname), []);
    if (options.all === true) return callback(null, addresses);
    callback(null, addresses[0]!.address, addresses[0]!.family);
  });
};

/** Throws forbidden where the host is itself a private address; names are checked when they are looked up. */
export function checkHost({ hostname }: URL): void {
  const bare = hostname.replace(/^\[|\]$/g, "");
  if (isIP(bare) !== 0 && isPrivateAddress(bare)) throw refused(bare);
}

function refused(host: string): AppError {
  return new AppError(
    "forbidden",
    `${host} is an address of the hub's own network; set alerts.webhook.allow_private to true to allow it`,
  );
}
