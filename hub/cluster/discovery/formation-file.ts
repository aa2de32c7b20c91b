/** What a hub remembers of its cluster's store: `nats/formation.json` in the data folder. Format: README.md. */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { StoreState } from "./hello.ts";

/** Folders below path.data. */
const FILE = join("nats", "formation.json");
/** JetStream's files of a server that is a member of a cluster. */
export const CLUSTER_STORE = join("nats", "cluster");
/** JetStream's files of a server of its own. */
const OWN_STORE = join("nats", "store", "jetstream");
const VERSION = 1;

export interface Formation {
  readonly store: StoreState;
  /** host:port of discovery.seed_hosts → port of the routes there. */
  readonly routePorts: Readonly<Record<string, number>>;
}

/** Reads the file. A store without the file has been used; a file whose store is gone is of a hub that lost it. */
export function readFormation(folder: string): Formation {
  const path = join(folder, FILE);
  const hasStore = existsSync(join(folder, CLUSTER_STORE));
  if (!existsSync(path)) return { store: hasStore ? "formed" : "empty", routePorts: {} };
  try {
    const { version, store, routePorts } = JSON.parse(readFileSync(path, "utf8")) as Formation & {
      version: number;
    };
    if (version !== VERSION) throw new Error(`version ${version}`);
    return { store: hasStore || store === "founding" ? store : "empty", routePorts };
  } catch (cause) {
    throw new AppError("data_corrupt", `${path} can't be read: remove it and start the hub again`, { cause });
  }
}

export function writeFormation(folder: string, formation: Formation): void {
  const path = join(folder, FILE);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomic(path, `${JSON.stringify({ version: VERSION, ...formation })}\n`, 0o600);
}

/** Returns true where the folder holds the store of a hub without others. */
export function hasOwnStore(folder: string): boolean {
  return existsSync(join(folder, OWN_STORE));
}

/** Returns true where the folder holds a member's part of a cluster's store. */
export function hasClusterStore(folder: string): boolean {
  return existsSync(join(folder, CLUSTER_STORE));
}
