/** Maps of a limited number of entries. */

/**
 * Sets an entry as the newest of a map and removes the oldest one beyond `limit`. A map whose entries are set again when they
 * are used keeps those used last.
 */
export function setNewest<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value!);
}
