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

/** Placement of a shard's copies, by node id. */
export interface Placement {
  /** Nodes that should have a copy, including lost ones. */
  readonly holders: readonly string[];
  /** Live nodes that have a copy. */
  readonly having: readonly string[];
}

/** A change of the placement of a shard's copies. Nodes are given by id. */
export type ShardCommand = {
  readonly uuid: string;
  readonly shard: number;
  /** Number of copies that the index requires. */
  readonly wanted: number;
} & (
  | { readonly command: "move"; readonly from: string; readonly to: string }
  | { readonly command: "allocate_replica" | "cancel"; readonly node: string }
);

/** The cluster, as the interfaces see it. */
export interface Cluster {
  readonly name: string;
  /** 22 characters base64url. */
  readonly uuid: string;
  /** Returns the nodes, this one first. */
  nodes(): NodeInfo[];
  /** Returns the placement of a shard's copies. Undefined, or if the method is absent: every node has a copy. */
  placement?(uuid: string, shard: number): Placement | undefined;
  /**
   * Changes the placement of copies, one command after the other. If a command can't be executed, none is; with `possible`
   * the others are. Returns for each command why it can't be executed, or null. Absent: copies aren't placed.
   */
  reroute?(
    commands: readonly ShardCommand[],
    mode: "all" | "possible" | "dry_run",
  ): Promise<readonly (string | null)[]>;
  /**
   * Removes a hub that won't come back from the cluster, by its name; `server`: also its part of the log's store. Throws
   * request_invalid if the hub is alive, not_found, unavailable, timeout.
   */
  remove?(name: string): Promise<{ readonly member: boolean; readonly server: boolean }>;
  /** Settings of `_cluster/settings`, dotted keys. */
  settings(): { readonly persistent: JsonObject; readonly transient: JsonObject };
  /** Merges settings; null removes. Throws settings_invalid. */
  putSettings(changes: { readonly persistent: JsonObject; readonly transient: JsonObject }): Promise<void>;
}
