/** The proxies in front of listeners, which name the client of a request in X-Forwarded-For. */

import { isIP } from "node:net";
import { AppError } from "#proto/kit/errors.ts";
import { AddressSet, isNetwork } from "./address-set.ts";

/** Longest chain of proxies that is followed. */
const MAX_HOPS = 32;
/** An IPv4 address as a socket for both families has it. */
const MAPPED = /^::ffff:(?=\d+\.)/i;

export class TrustedProxies {
  readonly #trusted: AddressSet;

  /** `proxies`: addresses and networks of `network.trusted_proxies`. Throws settings_invalid for what is neither. */
  constructor(proxies: readonly string[]) {
    this.#trusted = new AddressSet(proxies.map(checkedProxy));
  }

  /** Returns whether `address` is one of them. */
  has(address: string): boolean {
    return this.#trusted.has(address.replace(MAPPED, ""));
  }

  /**
   * Returns the address of the client behind a connection from `peer`. Each proxy adds to the header's end whom it was
   * reached from: the last one that isn't a proxy is the client, whatever is before it.
   */
  clientOf(peer: string, forwardedFor: string | readonly string[] | undefined): string {
    if (forwardedFor === undefined || !this.has(peer)) return peer;
    const hops = [forwardedFor].flat().join(",").split(",").slice(-MAX_HOPS);
    let client = peer;
    for (const hop of hops.toReversed()) {
      const address = hop.trim();
      if (isIP(address) === 0) break;
      client = address;
      if (!this.has(address)) break;
    }
    return client;
  }
}

/** Returns an entry of `network.trusted_proxies`. Throws settings_invalid for what isn't an address or network. */
export function checkedProxy(proxy: string): string {
  if (isNetwork(proxy)) return proxy;
  throw new AppError(
    "settings_invalid",
    `network.trusted_proxies: "${proxy}" isn't an address or network; write 192.0.2.7 or 192.0.2.0/24`,
  );
}
