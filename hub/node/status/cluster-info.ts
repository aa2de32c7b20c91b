/**
 * The cluster as the search API reports it: its identity, its live hubs, and its settings, which are stored in the bucket
 * `cluster`.
 */

import type { Cluster, NodeInfo, Placement, ShardCommand } from "#hub/api/ports/cluster.ts";
import type { CopyView } from "#hub/cluster/allocation/copy-view.ts";
import type { MemberRecord } from "#hub/cluster/membership/member-record.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** The members, as this hub knows them. */
export interface ClusterMembers {
  readonly identity: { readonly cluster: string; readonly node: string };
  /** Id of the hub that holds the duties. */
  readonly leader: string | undefined;
  members(): MemberRecord[];
  /** Where copies of shards are. */
  readonly copies: Pick<CopyView, "isPlaced" | "holders" | "reads">;
  readonly copyStore: {
    /** See Cluster.reroute. */
    reroute(
      commands: readonly ShardCommand[],
      mode: "all" | "possible" | "dry_run",
    ): Promise<readonly (string | null)[]>;
  };
  /** See Cluster.remove. */
  remove(name: string): Promise<{ readonly member: boolean; readonly server: boolean }>;
}

/** Properties of this node that others read from its record. */
export interface OwnNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly host: string;
  readonly httpAddress: () => string;
  readonly transportAddress: string;
}

const SETTINGS_KEY = "settings";
/** Attempts of one change against concurrent changes by other hubs. */
const CHANGE_TRIES = 20;

export class ClusterInfo implements Cluster {
  readonly name: string;
  readonly uuid: string;
  readonly #bucket: StateBucket;
  readonly #node: OwnNode;
  readonly #cluster: ClusterMembers;
  #persistent: JsonObject;
  /** Kept until the hub stops. */
  #transient: JsonObject = {};

  /** Reads the cluster's settings. */
  static async open(
    bucket: StateBucket,
    name: string,
    cluster: ClusterMembers,
    node: OwnNode,
  ): Promise<ClusterInfo> {
    const entry = await bucket.get(SETTINGS_KEY);
    return new ClusterInfo(bucket, name, cluster, node, entry === null ? {} : decode(entry.value));
  }

  private constructor(
    bucket: StateBucket,
    name: string,
    cluster: ClusterMembers,
    node: OwnNode,
    persistent: JsonObject,
  ) {
    this.#bucket = bucket;
    this.name = name;
    this.uuid = cluster.identity.cluster;
    this.#cluster = cluster;
    this.#node = node;
    this.#persistent = persistent;
  }

  nodes(): NodeInfo[] {
    const { identity, leader } = this.#cluster;
    const { name, attributes, host, httpAddress, transportAddress } = this.#node;
    const self = { id: identity.node, name, attributes, host, httpAddress: httpAddress(), transportAddress };
    const others = this.#cluster
      .members()
      .filter(({ id, state }) => state === "live" && id !== identity.node);
    return [self, ...others].map((node) => ({
      id: node.id,
      name: node.name,
      attributes: node.attributes,
      host: node.host,
      httpAddress: node.httpAddress,
      transportAddress: node.transportAddress,
      master: node.id === (leader ?? identity.node),
    }));
  }

  placement(uuid: string, shard: number): Placement | undefined {
    const { copies } = this.#cluster;
    const holders = copies.isPlaced ? copies.holders(uuid, shard) : undefined;
    if (holders === undefined) return undefined;
    const ids = this.#cluster.members().map(({ id }) => id);
    return { holders, having: ids.filter((id) => copies.reads(id, uuid, shard)) };
  }

  reroute(...call: Parameters<ClusterMembers["copyStore"]["reroute"]>): Promise<readonly (string | null)[]> {
    return this.#cluster.copyStore.reroute(...call);
  }

  remove(...call: Parameters<ClusterMembers["remove"]>): ReturnType<ClusterMembers["remove"]> {
    return this.#cluster.remove(...call);
  }

  settings(): { readonly persistent: JsonObject; readonly transient: JsonObject } {
    return { persistent: this.#persistent, transient: this.#transient };
  }

  async putSettings(changes: {
    readonly persistent: JsonObject;
    readonly transient: JsonObject;
  }): Promise<void> {
    this.#transient = merged(this.#transient, changes.transient);
    if (Object.keys(changes.persistent).length === 0) return;
    for (let tries = 1; ; tries++) {
      const entry = await this.#bucket.get(SETTINGS_KEY);
      const next = merged(entry === null ? {} : decode(entry.value), changes.persistent);
      try {
        const bytes = Buffer.from(JSON.stringify(next));
        if (entry === null) await this.#bucket.create(SETTINGS_KEY, bytes);
        else await this.#bucket.update(SETTINGS_KEY, bytes, entry.revision);
        this.#persistent = next;
        return;
      } catch (error) {
        if (toAppError(error).code !== "journal_conflict" || tries === CHANGE_TRIES) throw error;
      }
    }
  }
}

function decode(bytes: Uint8Array): JsonObject {
  return JSON.parse(Buffer.from(bytes).toString()) as JsonObject;
}

/** Null removes a setting; a `*` in its name removes all that match. */
function merged(before: JsonObject, changes: JsonObject): JsonObject {
  const result: JsonObject = { ...before };
  for (const [key, value] of Object.entries(changes)) {
    if (value !== null) {
      result[key] = value;
      continue;
    }
    const prefix = key.endsWith("*") ? key.slice(0, -1) : undefined;
    for (const each of Object.keys(result)) {
      if (prefix === undefined ? each === key : each.startsWith(prefix)) delete result[each];
    }
  }
  return result;
}
