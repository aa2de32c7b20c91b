/** The order in which a Java HashMap walks through its keys, which answers and printed maps of the reference show. */

/** Share of its buckets that a hash table fills before it doubles. */
const LOAD = 0.75;
/** Buckets of the smallest hash table. */
const LEAST_BUCKETS = 16;

/** Returns the items by the bucket of their keys, in a table that grew to hold them all; those of one bucket as they were. */
export function hashOrder<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  let buckets = LEAST_BUCKETS;
  while (items.length > buckets * LOAD) buckets *= 2;
  return items
    .map((item) => ({ item, bucket: spread(hashCode(keyOf(item))) & (buckets - 1) }))
    .sort((a, b) => a.bucket - b.bucket)
    .map(({ item }) => item);
}

/** Returns the hash of a text as java.lang.String.hashCode has it, a signed number of 32 bits. */
export function hashCode(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}

/** As java.util.HashMap does, so that small tables depend on the high bits too. */
function spread(hash: number): number {
  return hash ^ (hash >>> 16);
}
