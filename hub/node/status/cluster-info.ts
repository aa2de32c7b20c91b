/**
 * The cluster as the search interface reports it: its identity and settings, stored in the bucket `cluster`, and its
 * node.
 */

import { createHash, randomBytes } from "node:crypto";
import type { Cluster, NodeInfo } from "#hub/api/ports/cluster.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** Properties of this node. */
export interface OwnNode {
  readonly name: string;
  /** Settings below `node.attr`. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly host: string;
  readonly httpAddress: () => string;
  readonly transportAddress: string;
}

const IDENTITY_KEY = "identity";
const SETTINGS_KEY = "settings";
/** Attempts of one change against concurrent changes by other hubs. */
const CHANGE_TRIES = 20;

export class ClusterInfo implements Cluster {
  readonly name: string;
  readonly uuid: string;
  readonly #bucket: StateBucket;
  readonly #node: OwnNode;
  readonly #nodeId: string;
  #persistent: JsonObject;
  /** Kept until the hub stops. */
  #transient: JsonObject = {};

  /** Reads the cluster's identity, or creates it. */
  static async open(bucket: StateBucket, name: string, node: OwnNode): Promise<ClusterInfo> {
    const uuid = await identityOf(bucket);
    const entry = await bucket.get(SETTINGS_KEY);
    return new ClusterInfo(bucket, name, uuid, node, entry === null ? {} : decode(entry.value));
  }

  private constructor(
    bucket: StateBucket,
    name: string,
    uuid: string,
    node: OwnNode,
    persistent: JsonObject,
  ) {
    this.#bucket = bucket;
    this.name = name;
    this.uuid = uuid;
    this.#node = node;
    this.#persistent = persistent;
    this.#nodeId = createHash("sha256").update(`${uuid}/${node.name}`).digest("base64url").slice(0, 22);
  }

  nodes(): NodeInfo[] {
    const { name, attributes, host, httpAddress, transportAddress } = this.#node;
    return [
      {
        id: this.#nodeId,
        name,
        attributes,
        host,
        httpAddress: httpAddress(),
        transportAddress,
        master: true,
      },
    ];
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

async function identityOf(bucket: StateBucket): Promise<string> {
  const known = await bucket.get(IDENTITY_KEY);
  if (known !== null) return Buffer.from(known.value).toString();
  const uuid = randomBytes(16).toString("base64url");
  try {
    await bucket.create(IDENTITY_KEY, Buffer.from(uuid));
    return uuid;
  } catch (error) {
    const other = toAppError(error).code === "journal_conflict" ? await bucket.get(IDENTITY_KEY) : null;
    if (other === null) throw error;
    return Buffer.from(other.value).toString();
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
