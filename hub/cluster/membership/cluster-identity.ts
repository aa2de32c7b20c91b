/**
 * Which cluster a store and a data folder belong to. The bucket `cluster` has the cluster's UUID and name; `cluster.json` in
 * the data folder has the UUID and the id of the node. A hub starts only if they agree.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

export const CLUSTER_BUCKET = "cluster";

const UUID_KEY = "identity";
const NAME_KEY = "name";
/** node.name of the first hub; inputs that run on one hub at a time are named after it. */
const FOUNDER_KEY = "founder";
/** Part of the secret of links between hubs that share a NATS, see hub/cluster/links. */
const SECRET_KEY = "link-secret";
/**
 * cluster.json: a JSON object with version, cluster, node and check, the CRC-32C of the two ids in 8 hexadecimal digits; earlier
 * versions wrote no check.
 */
const FILE = "cluster.json";
const FILE_VERSION = 1;
const ID = /^[\w-]{22}$/;

export interface ClusterIdentity {
  /** UUID of the cluster, 22 characters base64url. */
  readonly cluster: string;
  /** Id of this node, 22 characters base64url. */
  readonly node: string;
  /** node.name of the first hub of the cluster. */
  readonly founder: string;
}

export interface IdentityOptions {
  readonly bucket: StateBucket;
  /** path.data, absolute. */
  readonly folder: string;
  readonly clusterName: string;
  readonly nodeName: string;
  /** True if only this hub uses the store: then the cluster may be renamed. */
  readonly mayRename: boolean;
  /** Address of the store, for messages. */
  readonly store: string;
}

/**
 * Returns the identity; makes what is missing. A store that was lost gets the UUID of the data folder again. Throws
 * settings_invalid if the settings or the data folder name another cluster than the store's.
 */
export async function openIdentity(options: IdentityOptions): Promise<ClusterIdentity> {
  const { bucket, folder, clusterName, nodeName, store, mayRename } = options;
  const known = readFile(folder);
  const cluster = await stored(bucket, UUID_KEY, known?.cluster ?? newId());
  if (known !== undefined && known.cluster !== cluster)
    throw new AppError(
      "settings_invalid",
      `the data folder ${folder} belongs to another cluster than the NATS at ${store}: set nats.servers to the NATS that it was used with, or path.data to a new folder`,
    );
  const name = await stored(bucket, NAME_KEY, clusterName);
  if (name !== clusterName) {
    if (!mayRename)
      throw new AppError(
        "settings_invalid",
        `cluster.name is "${clusterName}", but the NATS at ${store} belongs to the cluster "${name}": set cluster.name to "${name}", or use another NATS`,
      );
    await bucket.put(NAME_KEY, Buffer.from(clusterName));
  }
  const node = known?.node ?? newId();
  if (known?.check === undefined) writeFile(folder, cluster, node);
  return { cluster, node, founder: await stored(bucket, FOUNDER_KEY, nodeName) };
}

/** Returns the secret that all hubs of a store share; makes one if it has none. */
export function sharedSecret(bucket: StateBucket): Promise<string> {
  return stored(bucket, SECRET_KEY, randomBytes(32).toString("base64url"));
}

/** Renames a cluster; its hubs must not run. */
export async function renameCluster(bucket: StateBucket, name: string): Promise<void> {
  await bucket.put(NAME_KEY, Buffer.from(name));
}

/** Returns the UUID of the cluster that a data folder belongs to; undefined: none yet. */
export function knownCluster(folder: string): string | undefined {
  return readFile(folder)?.cluster;
}

interface IdentityFile {
  readonly version: number;
  readonly cluster: string;
  readonly node: string;
  readonly check?: string;
}

function readFile(folder: string): IdentityFile | undefined {
  const path = join(folder, FILE);
  if (!existsSync(path)) return undefined;
  try {
    const file = JSON.parse(readFileSync(path, "utf8")) as IdentityFile;
    const { version, cluster, node, check } = file;
    if (version !== FILE_VERSION || !ID.test(cluster) || !ID.test(node))
      throw new Error(`version ${version}`);
    if (check !== undefined && check !== checkOf(cluster, node)) throw new Error("it fails its check");
    return file;
  } catch (cause) {
    throw new AppError(
      "data_corrupt",
      `${path} can't be read: remove it, and the hub joins its store as a new node with the documents it has`,
      { cause },
    );
  }
}

function writeFile(folder: string, cluster: string, node: string): void {
  const file: IdentityFile = { version: FILE_VERSION, cluster, node, check: checkOf(cluster, node) };
  writeFileAtomic(join(folder, FILE), `${JSON.stringify(file)}\n`);
}

function checkOf(cluster: string, node: string): string {
  return crc32c(Buffer.from(`${cluster} ${node}`))
    .toString(16)
    .padStart(8, "0");
}

/** Returns the value of a key; stores and returns `candidate` if the bucket has none, unless another hub is quicker. */
async function stored(bucket: StateBucket, key: string, candidate: string): Promise<string> {
  for (;;) {
    const entry = await bucket.get(key);
    if (entry !== null) return Buffer.from(entry.value).toString();
    try {
      await bucket.create(key, Buffer.from(candidate));
      return candidate;
    } catch (error) {
      if (toAppError(error).code !== "journal_conflict") throw error;
    }
  }
}

function newId(): string {
  return randomBytes(16).toString("base64url");
}
