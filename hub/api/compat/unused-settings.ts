/** Settings of indices that clients may give and that do nothing here where somebody would count on them: the answer says so. */

import { warnDeprecated } from "#hub/search/options/request-version.ts";

/** Beginning of settings, without the leading "index.", with what does the same. */
const UNUSED: readonly (readonly [prefix: string, instead: string])[] = [
  ["sort.", "documents are kept in the order in which they came; name the order in the search"],
  ["lifecycle.", "there are no lifecycles; retention.rules say when indices are deleted"],
  [
    "plugins.index_state_management.",
    "there are no lifecycles; retention.rules say when indices are deleted",
  ],
  ["routing.allocation.", "a shard is on the node that made it"],
  ["routing_partition_size", "documents with a routing are in one shard"],
  ["search.slowlog.", "the hub's own setting search.slowlog.threshold says which searches are logged"],
  ["indexing.slowlog.", "slow writes aren't logged"],
  ["similarity.", "scores are BM25's, with k1 1.2 and b 0.75"],
];

/** Warns of those of `settings` (dotted, without "index.") that do nothing. */
export function warnOfUnused(settings: Readonly<Record<string, unknown>>): void {
  for (const [prefix, instead] of UNUSED) {
    const given = Object.keys(settings).filter((key) => key.startsWith(prefix) && settings[key] !== null);
    if (given.length === 0) continue;
    const names = given.map((key) => `[index.${key}]`).join(", ");
    warnDeprecated(`${names} is accepted and does nothing: ${instead}`);
  }
}
