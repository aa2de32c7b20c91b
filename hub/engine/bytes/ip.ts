/** Internet addresses as 16 bytes in the order of their numbers; IPv4 as ::ffff:a.b.c.d. */

import { isIPv4, isIPv6 } from "node:net";

/** Returns the 16 bytes of an address, or null where `text` is none. */
export function parseIp(text: string): Uint8Array | null {
  if (isIPv4(text)) {
    const bytes = new Uint8Array(16);
    bytes[10] = bytes[11] = 255;
    text.split(".").forEach((part, index) => {
      bytes[12 + index] = Number(part);
    });
    return bytes;
  }
  return isIPv6(text) && !text.includes("%") ? parseIpv6(text) : null;
}

function parseIpv6(text: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const hex =
    dotted === null ? text : `${dotted[1]}${pair(dotted[2]!, dotted[3]!)}:${pair(dotted[4]!, dotted[5]!)}`;
  const [head = "", tail] = hex.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  for (const [index, group] of left.entries()) writeGroup(bytes, index, group);
  for (const [index, group] of right.entries()) writeGroup(bytes, 8 - right.length + index, group);
  return bytes;
}

function pair(high: string, low: string): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}

function writeGroup(bytes: Uint8Array, index: number, group: string): void {
  const value = Number.parseInt(group, 16);
  bytes[2 * index] = value >> 8;
  bytes[2 * index + 1] = value & 255;
}

/** Returns the first and last address of `a.b.c.d/n`, null if it isn't a block. */
export function parseIpBlock(text: string): readonly [from: Uint8Array, to: Uint8Array] | null {
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

/** Prints 16 bytes as an address: dotted for IPv4, else by RFC 5952. */
export function formatIp(bytes: Uint8Array): string {
  if (bytes.length !== 16) return "";
  if (isMappedIpv4(bytes)) return bytes.subarray(12).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => (bytes[2 * index]! << 8) | bytes[2 * index + 1]!);
  const [start, length] = longestZeros(groups);
  const print = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (length < 2) return print(groups);
  return `${print(groups.slice(0, start))}::${print(groups.slice(start + length))}`;
}

function isMappedIpv4(bytes: Uint8Array): boolean {
  for (let index = 0; index < 10; index++) if (bytes[index] !== 0) return false;
  return bytes[10] === 255 && bytes[11] === 255;
}

function longestZeros(groups: readonly number[]): [start: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && groups[end] === 0) end++;
    if (end - start > best[1]) best = [start, end - start];
  }
  return best;
}
