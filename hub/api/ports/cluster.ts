/** Port of the HTTP interfaces to the cluster: its name, members and settings. */

import type { JsonObject } from "#proto/kit/json.ts";

/** A member of the cluster. */
export interface NodeInfo {
  /** 22 characters base64url. */
  readonly id: string;
  readonly name: string;
  /** Its settings node.attr.<name>, by name. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly host: string;
  readonly httpAddress: string;
  readonly transportAddress: string;
  readonly master: boolean;
}

/** Where copies of a shard are, by the ids of nodes. */
export interface Placement {
  /** Nodes that shall have it, also such as are lost. */
  readonly holders: readonly string[];
  /** Live nodes that have it. */
  readonly having: readonly string[];
}

/** A change of where the copies of a shard are. Nodes are named by their ids. */
export type ShardCommand = {
  readonly uuid: string;
  readonly shard: number;
  /** Copies of the shard that its index wants. */
  readonly wanted: number;
} & (
  | { readonly command: "move"; readonly from: string; readonly to: string }
  | { readonly command: "allocate_replica" | "cancel"; readonly node: string }
);

/** Facts of the cluster. */
export interface Cluster {
  readonly name: string;
  /** 22 characters base64url. */
  readonly uuid: string;
  /** This node first. */
  nodes(): NodeInfo[];
  /** Returns where the copies of a shard are; undefined: every node has one, as each does where there is no such method. */
  placement?(uuid: string, shard: number): Placement | undefined;
  /**
   * Changes where copies are, one command after the other; all of them or, with one that can't be done, none; with `possible`
   * those that can. Returns for each why it can't, or null. Without such a method nothing is placed.
   */
  reroute?(
    commands: readonly ShardCommand[],
    mode: "all" | "possible" | "dry_run",
  ): Promise<readonly (string | null)[]>;
  /**
   * Takes a hub that won't come back out of the cluster, by its name; `server`: also its part of the log's store. Throws
   * request_invalid where it lives, not_found, unavailable, timeout.
   */
  remove?(name: string): Promise<{ readonly member: boolean; readonly server: boolean }>;
  /** Settings of `_cluster/settings`, dotted keys. */
  settings(): { readonly persistent: JsonObject; readonly transient: JsonObject };
  /** Merges settings; null removes. Throws settings_invalid. */
  putSettings(changes: { readonly persistent: JsonObject; readonly transient: JsonObject }): Promise<void>;
}
