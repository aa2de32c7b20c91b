/** MurmurHash3, x86, 32 bits, seed 0. */

/** Returns the hash of the UTF-8 bytes of `text`, 0..2^32-1. */
export function murmur3(text: string): number {
  const bytes = Buffer.from(text);
  let hash = 0;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    hash ^= scramble(bytes.readUInt32LE(at));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let place = bytes.length - 1; place >= at; place--) tail = (tail << 8) | bytes[place]!;
  hash ^= scramble(tail) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
