/** Blocks of IP addresses. */

import { isIPv4 } from "node:net";
import { parseIp } from "#hub/engine/bytes/ip.ts";

/** Returns the first and last address of `a.b.c.d/n`, null where it is no block. */
export function parseBlock(text: string): readonly [from: Uint8Array, to: Uint8Array] | null {
  const [address = "", bits = "", ...more] = text.split("/");
  const from = parseIp(address);
  if (from === null || more.length > 0 || !/^\d{1,3}$/.test(bits)) return null;
  const length = Number(bits) + (isIPv4(address) ? 96 : 0);
  if (length > 128) return null;
  const to = from.slice();
  for (let bit = length; bit < 128; bit++) {
    from[bit >>> 3]! &= ~(0x80 >>> (bit & 7));
    to[bit >>> 3]! |= 0x80 >>> (bit & 7);
  }
  return [from, to];
}
