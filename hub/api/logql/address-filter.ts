/** `ip("…")` of filters: finds addresses in a text, and compares them with an address, a range or a network. */

import { AppError } from "#proto/kit/errors.ts";
import { AddressSet } from "#proto/kit/net/address-set.ts";

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
      if (wanted.has(address)) return true;
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

function addressesOf(pattern: string): AddressSet {
  const set = new AddressSet();
  const [first = "", last = "", ...more] = pattern.split("-").map((text) => text.trim());
  if (set.add(pattern) || (more.length === 0 && set.addRange(first, last))) return set;
  throw invalid(pattern);
}

function invalid(pattern: string): AppError {
  return new AppError("request_invalid", `ip: invalid pattern: ${JSON.stringify(pattern.slice(0, 100))}`);
}
