/** `ip("…")` of filters: finds addresses in a text, and compares them with an address, a range or a network. */

import { BlockList, isIP } from "node:net";
import { AppError } from "#proto/kit/errors.ts";

/** Where an address may begin, and how far it may go. */
const STARTS: readonly (readonly [start: RegExp, characters: RegExp])[] = [
  [/\d.{0,2}\./sy, /[\d.]+/y],
  [/(?:::[\da-f]|[\da-f]{1,4}:)/iy, /[\da-f:.]+/iy],
];

/** Compiles a pattern; returns whether a text has such an address. Throws request_invalid. */
export function compileAddressFilter(pattern: string): (text: string) => boolean {
  const wanted = addressesOf(pattern);
  return (text) => {
    for (let at = 0; at < text.length; at++) {
      const address = addressAt(text, at);
      if (address === "") continue;
      const version = isIP(address);
      if (version !== 0 && wanted.check(address, version === 4 ? "ipv4" : "ipv6")) return true;
      at += address.length;
    }
    return false;
  };
}

/** Returns the characters of an address that may begin at an offset; "" if none does. */
function addressAt(text: string, offset: number): string {
  for (const [start, characters] of STARTS) {
    start.lastIndex = offset;
    if (!start.test(text)) continue;
    characters.lastIndex = offset;
    return characters.exec(text)?.[0] ?? "";
  }
  return "";
}

function addressesOf(pattern: string): BlockList {
  const list = new BlockList();
  const family = (text: string): "ipv4" | "ipv6" => (isIP(text) === 4 ? "ipv4" : "ipv6");
  const [, network = "", bits] = /^([^/]+)\/(\d{1,3})$/.exec(pattern) ?? [];
  const [first = "", last = "", ...more] = pattern.split("-").map((text) => text.trim());
  if (isIP(pattern) !== 0) list.addAddress(pattern, family(pattern));
  else if (isIP(network) !== 0 && Number(bits) <= (isIP(network) === 4 ? 32 : 128))
    list.addSubnet(network, Number(bits), family(network));
  else if (isIP(first) !== 0 && isIP(first) === isIP(last) && more.length === 0)
    addRange(list, pattern, first, last);
  else throw invalid(pattern);
  return list;
}

function addRange(list: BlockList, pattern: string, first: string, last: string): void {
  try {
    list.addRange(first, last, isIP(first) === 4 ? "ipv4" : "ipv6");
  } catch (error) {
    // The range ends before it begins.
    throw invalid(pattern, error);
  }
}

function invalid(pattern: string, cause?: unknown): AppError {
  return new AppError("request_invalid", `ip: invalid pattern: ${JSON.stringify(pattern.slice(0, 100))}`, {
    cause,
  });
}
