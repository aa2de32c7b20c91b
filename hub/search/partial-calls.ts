/** Counts and suggestions over several hosts: each sends its part, which the front merges. */

import { type CountResponse, mergeCounts, type PartialCount } from "./count.ts";
import { askHosts } from "./phases/ask-hosts.ts";
import type { HostShards } from "./phases/scatter.ts";
import type { SearchDemand } from "./phases/search-call.ts";
import {
  mergeSuggestions,
  type NamedSuggester,
  type PartialSuggestions,
  type Suggestions,
} from "./suggest.ts";

/** Counts the documents of `demand.body.query`. Throws as countShards does. */
export async function countOnHosts(
  demand: SearchDemand,
  targets: readonly HostShards[],
  signal: AbortSignal,
): Promise<CountResponse> {
  const partials = await askHosts(targets, signal, {
    ask: ({ host, shards }, either) => host.partial<PartialCount>("count", { ...demand, shards }, either),
    unanswered: (failures): PartialCount => ({ count: 0, counted: 0, failures }),
  });
  return mergeCounts(partials);
}

/** Runs the suggestions of `demand.body.suggest`, which are `suggesters`. Throws as suggest does. */
export async function suggestOnHosts(
  suggesters: readonly NamedSuggester[],
  demand: SearchDemand,
  targets: readonly HostShards[],
  signal: AbortSignal,
): Promise<Suggestions> {
  const partials = await askHosts(targets, signal, {
    ask: ({ host, shards }, either) =>
      host.partial<PartialSuggestions>("suggest", { ...demand, shards }, either),
    unanswered: (failures): PartialSuggestions => {
      return { asked: 0, failures, states: [], timedOut: false, isCut: false };
    },
  });
  return mergeSuggestions(suggesters, partials, demand);
}
