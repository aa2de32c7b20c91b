/** MurmurHash3 with 32 bits (github.com/aappleby/smhasher, MurmurHash3_x86_32). */

/** Returns the MurmurHash3 (x86, 32 bits) of bytes, a signed number. */
export function murmur32(bytes: Uint8Array, seed: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~3;
  let hash = seed;
  for (let at = 0; at < whole; at += 4) {
    hash ^= mixed(view.getInt32(at, true));
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | bytes[at]!;
  hash ^= mixed(tail) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function mixed(block: number): number {
  const scaled = Math.imul(block, 0xcc9e2d51);
  return Math.imul((scaled << 15) | (scaled >>> 17), 0x1b873593);
}
