/** MurmurHash3 with 128 bits (github.com/aappleby/smhasher, MurmurHash3_x64_128). */

const [C1, C2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn];

/** Returns the MurmurHash3 (x64, 128 bits) of bytes: 16 bytes, both halves with their lowest byte first. */
export function murmur128(bytes: Buffer, seed: bigint): Buffer {
  let [h1, h2] = [seed, seed];
  const mixed1 = (block: bigint): bigint => u64(rotated(u64(block * C1), 31n) * C2);
  const mixed2 = (block: bigint): bigint => u64(rotated(u64(block * C2), 33n) * C1);
  const end = bytes.length - (bytes.length % 16);
  for (let at = 0; at < end; at += 16) {
    h1 = u64((rotated(h1 ^ mixed1(bytes.readBigUInt64LE(at)), 27n) + h2) * 5n + 0x52dce729n);
    h2 = u64((rotated(h2 ^ mixed2(bytes.readBigUInt64LE(at + 8)), 31n) + h1) * 5n + 0x38495ab5n);
  }
  const tail = Buffer.alloc(16);
  bytes.copy(tail, 0, end);
  const length = BigInt(bytes.length);
  h1 ^= mixed1(tail.readBigUInt64LE(0)) ^ length;
  h2 ^= mixed2(tail.readBigUInt64LE(8)) ^ length;
  h1 = u64(h1 + h2);
  h2 = u64(h2 + h1);
  [h1, h2] = [finished(h1), finished(h2)];
  h1 = u64(h1 + h2);
  const hash = Buffer.alloc(16);
  hash.writeBigUInt64LE(h1);
  hash.writeBigUInt64LE(u64(h2 + h1), 8);
  return hash;
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function rotated(value: bigint, by: bigint): bigint {
  return u64(value << by) | (u64(value) >> (64n - by));
}

function finished(value: bigint): bigint {
  let hash = u64((value ^ (value >> 33n)) * 0xff51afd7ed558ccdn);
  hash = u64((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return hash ^ (hash >> 33n);
}
