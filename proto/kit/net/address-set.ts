/** Sets of internet addresses, by single ones, networks and ranges. IPv4 addresses mapped to IPv6 count as IPv4. */

import { BlockList, isIP } from "node:net";

export class AddressSet {
  readonly #list = new BlockList();

  /** `networks`: see `add`; those that are none are left out. */
  constructor(networks: Iterable<string> = []) {
    for (const network of networks) this.add(network);
  }

  /** Adds an address such as "192.0.2.7" or a network such as "2001:db8::/32"; returns false for a text that is neither. */
  add(network: string): boolean {
    if (!isNetwork(network)) return false;
    const [address = "", bits] = network.split("/");
    const family = familyOf(address);
    if (bits === undefined) this.#list.addAddress(address, family);
    else this.#list.addSubnet(address, Number(bits), family);
    return true;
  }

  /** Adds the addresses from one to another, both included; returns false where they have no order. */
  addRange(first: string, last: string): boolean {
    if (isIP(first) === 0 || isIP(first) !== isIP(last)) return false;
    try {
      this.#list.addRange(first, last, familyOf(first));
    } catch {
      return false; // the range ends before it begins
    }
    return true;
  }

  /** Returns whether the set has an address; false for a text that is none. */
  has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, familyOf(address));
  }
}

/** Returns whether a text is an address, or an address with a number of bits behind a slash. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
