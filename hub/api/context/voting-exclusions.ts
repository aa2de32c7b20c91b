/**
 * Nodes that a client of 7.x wants to exclude from votes. The journal elects its leaders by itself, so only names of nodes
 * that don't exist are kept: they have no effect, as in other servers, and are forgotten when the hub ends.
 */

import type { JsonObject } from "#proto/kit/json.ts";

/** Placeholder for an unknown name or id. */
const ABSENT = "_absent_";

/** Exclusions that are kept; the default of cluster.max_voting_config_exclusions. */
export const MAX_EXCLUSIONS = 10;

export class VotingExclusions {
  #all: readonly { readonly node_id: string; readonly node_name: string }[] = [];

  /** Returns the exclusions as the cluster state shows them. */
  list(): JsonObject[] {
    return this.#all.map((each) => ({ ...each }));
  }

  /** Adds nodes by ids or names. Returns false if there would be too many; then none is added. */
  add(by: "id" | "name", nodes: readonly string[]): boolean {
    const known = new Set(this.#all.map((each) => (by === "id" ? each.node_id : each.node_name)));
    const added = [...new Set(nodes)].filter((node) => !known.has(node));
    if (this.#all.length + added.length > MAX_EXCLUSIONS) return false;
    this.#all = [
      ...this.#all,
      ...added.map((node) => ({
        node_id: by === "id" ? node : ABSENT,
        node_name: by === "id" ? ABSENT : node,
      })),
    ];
    return true;
  }

  clear(): void {
    this.#all = [];
  }
}
