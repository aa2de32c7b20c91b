/** What a hub records about its cluster's store: `nats/formation.json` in the data folder. Format: README.md. */

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { StoreState } from "./hello.ts";

/** Folders below path.data. */
const FILE = join("nats", "formation.json");
/** JetStream's files of a server that is a member of a cluster. */
export const CLUSTER_STORE = join("nats", "cluster");
/** The store of a single hub. */
export const OWN_STORE = join("nats", "store");
/** JetStream's files in it. */
const OWN_STREAMS = join(OWN_STORE, "jetstream");
const VERSION = 1;

export interface Formation {
  readonly store: StoreState;
  /** host:port of discovery.seed_hosts → port of the routes there. */
  readonly routePorts: Readonly<Record<string, number>>;
  /** UUID of the single hub whose log the store gets; empty: none. */
  readonly grows: string;
}

/** Reads the file. A store without the file counts as used; a file without a store means that the hub lost its store. */
export function readFormation(folder: string): Formation {
  const path = join(folder, FILE);
  const hasStore = existsSync(join(folder, CLUSTER_STORE));
  if (!existsSync(path)) return { store: hasStore ? "formed" : "empty", routePorts: {}, grows: "" };
  try {
    const file = JSON.parse(readFileSync(path, "utf8")) as Omit<Formation, "grows"> & {
      version: number;
      grows?: string;
    };
    const { version, store, routePorts, grows = "" } = file;
    if (version !== VERSION) throw new Error(`version ${version}`);
    return hasStore || store === "founding"
      ? { store, routePorts, grows }
      : { store: "empty", routePorts, grows: "" };
  } catch (cause) {
    throw new AppError("data_corrupt", `${path} can't be read: remove it and start the hub again`, { cause });
  }
}

export function writeFormation(folder: string, formation: Formation): void {
  const path = join(folder, FILE);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomic(path, `${JSON.stringify({ version: VERSION, ...formation })}\n`, 0o600);
}

/** Returns true if the folder has the store of a single hub. */
export function hasOwnStore(folder: string): boolean {
  return existsSync(join(folder, OWN_STREAMS));
}

/** Removes the store of a single hub, whose content is in the cluster's store. */
export function removeOwnStore(folder: string): void {
  rmSync(join(folder, OWN_STORE), { recursive: true, force: true });
}

/** Returns true if the folder has a member's part of a cluster's store. */
export function hasClusterStore(folder: string): boolean {
  return existsSync(join(folder, CLUSTER_STORE));
}
