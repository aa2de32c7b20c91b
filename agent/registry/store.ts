/**
 * The registry's files: a LevelDB database, a marker that proves it was created, and a snapshot as a backup. A damaged
 * database is kept aside, repaired and completed from the snapshot; it is never silently emptied. The layout is
 * described in README.md beside this file.
 */

import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Level } from "level";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { openDataFolder } from "#proto/kit/files/data-folder.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type FileRow, parseRow } from "./row.ts";
import { isTableIntact } from "./table-check.ts";

export const FORMAT_VERSION = 1;

/** Content of the file FORMAT. */
export interface Marker {
  readonly format: number;
  readonly agentId: string;
  readonly createdMs: number;
}

export type Database = Level<string, string>;

export interface OpenedStore {
  readonly database: Database;
  readonly marker: Marker | null;
  /** Everything in the database. */
  readonly entries: Map<string, string>;
  /** True where it had to be repaired: rows may be missing or old. */
  readonly repaired: boolean;
}

/** Number of damaged copies kept for inspection. */
const BAD_COPIES_KEPT = 2;
/** Opening the database writes its buffer as a table; on a disk without that space it would look damaged. */
const START_BYTES = 2 << 20;
/** Messages of the system for exhausted resources and missing permissions; LevelDB passes them on only as text. */
const REFUSAL =
  /no space left|read-only file system|permission denied|too many open files|quota exceeded|cannot allocate/i;
/** Paths and offsets of all users' files are confidential. */
const PRIVATE = 0o600;
/** The agent has few rows; the defaults of LevelDB would take 12 MB of memory. */
const LEVEL_OPTIONS = {
  keyEncoding: "utf8",
  valueEncoding: "utf8",
  writeBufferSize: 1 << 20,
  cacheSize: 1 << 20,
};

/** Opens the database under `folder`, making it at the first run only. Throws data_locked, data_corrupt, disk_full or file_unreadable. */
export async function openStore(folder: string, log: Logger): Promise<OpenedStore> {
  openDataFolder(folder, START_BYTES);
  const path = join(folder, "registry");
  const marker = readMarker(folder);
  try {
    const opened = await openAndRead(path, marker === null);
    if (marker === null || opened.entries.has("m/agent")) return { ...opened, marker, repaired: false };
    await opened.database.close();
    throw new AppError("data_corrupt", "it opens, but lacks the entries that every registry has");
  } catch (error) {
    refuseLocked(error, folder);
    if (isRefusal(error) || (marker === null && !existsSync(path))) throw unreadable(path, error);
    log.error({ error }, `the registry ${path} is damaged; repairing it`);
    return { ...(await repair(path, log)), marker, repaired: true };
  }
}

/** Writes the file FORMAT. */
export function writeMarker(folder: string, marker: Marker): void {
  writeFileAtomic(join(folder, "FORMAT"), `${JSON.stringify(marker)}\n`, PRIVATE);
}

function readMarker(folder: string): Marker | null {
  const path = join(folder, "FORMAT");
  if (!existsSync(path)) return null;
  let marker: Marker;
  try {
    marker = JSON.parse(readFileSync(path, "utf8")) as Marker;
  } catch {
    return null; // damaged: the agent's id is in the database and in the snapshot as well
  }
  if (typeof marker.format !== "number") return null;
  if (marker.format <= FORMAT_VERSION) return marker;
  throw new AppError(
    "data_corrupt",
    `${path}: format ${marker.format} was written by a newer agent, this one reads up to ${FORMAT_VERSION}; use the newer agent`,
  );
}

async function openAndRead(
  path: string,
  createIfMissing: boolean,
): Promise<Pick<OpenedStore, "database" | "entries">> {
  const damaged = damagedTables(path);
  if (damaged.length > 0) {
    await refuseUsed(path);
    throw new AppError("data_corrupt", `a checksum is wrong in ${damaged.join(", ")}`);
  }
  const database: Database = new Level<string, string>(path, LEVEL_OPTIONS);
  try {
    await database.open({ createIfMissing });
    // Reading all of it is the check of all of it.
    return { database, entries: new Map(await database.iterator().all()) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Returns the paths of the tables that LevelDB must not read; see table-check.ts. Throws the system's error. */
function damagedTables(path: string): string[] {
  if (!existsSync(path)) return [];
  const tables = readdirSync(path).filter((name) => name.endsWith(".ldb"));
  return tables.map((name) => join(path, name)).filter(isDamaged);
}

function isDamaged(table: string): boolean {
  try {
    return !isTableIntact(readFileSync(table));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false; // another agent that uses the database has replaced it
    throw error;
  }
}

async function repair(path: string, log: Logger): Promise<Pick<OpenedStore, "database" | "entries">> {
  keepDamaged(path);
  try {
    for (const table of damagedTables(path)) rmSync(table);
    await (Level as unknown as { repair(location: string): Promise<void> }).repair(path);
    return await openAndRead(path, false);
  } catch (error) {
    log.error({ error }, `the registry ${path} can't be repaired; going on with its snapshot`);
    rmSync(path, { recursive: true, force: true });
    return openAndRead(path, true);
  }
}

function keepDamaged(path: string): void {
  if (!existsSync(path)) return;
  const folder = join(path, "..");
  const kept = readdirSync(folder)
    .filter((name) => name.startsWith("registry.bad-"))
    .sort();
  for (const name of kept.slice(0, Math.max(0, kept.length - BAD_COPIES_KEPT + 1))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  cpSync(path, `${path}.bad-${new Date().toISOString().replaceAll(":", "-")}`, { recursive: true });
}

/**
 * Throws LevelDB's error where another agent uses the database. LevelDB takes the lock before it sees that there is a database,
 * which is refused here: it would merge damaged tables as soon as it has opened them.
 */
async function refuseUsed(path: string): Promise<void> {
  const database: Database = new Level<string, string>(path, LEVEL_OPTIONS);
  try {
    await database.open({ createIfMissing: false, errorIfExists: true });
  } catch (error) {
    if (isLocked(error)) throw error;
  } finally {
    await database.close();
  }
}

function isLocked(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  return systemCode(error) === "LEVEL_LOCKED" || systemCode(cause) === "LEVEL_LOCKED";
}

function refuseLocked(error: unknown, folder: string): void {
  if (!isLocked(error)) return;
  let pid = "another process";
  try {
    pid = `the process ${readFileSync(join(folder, "agent.pid"), "utf8").trim()}`;
  } catch {
    // without the file the message names no process id
  }
  throw new AppError(
    "data_locked",
    `the registry in ${folder} is in use by ${pid}; stop that agent or give this one a separate folder with --path.data`,
    { cause: error },
  );
}

/**
 * True if the system refused the access, which means nothing for the content: the database isn't to be repaired then.
 */
function isRefusal(error: unknown): boolean {
  const { message, cause } = error as Error;
  return REFUSAL.test(message) || (cause !== undefined && isRefusal(cause));
}

function unreadable(path: string, error: unknown): AppError {
  return new AppError(
    "file_unreadable",
    `cannot use ${path}: ${reasonOf(error)}; make it writable and free space on its disk, or give another folder with --path.data`,
    {
      cause: error,
    },
  );
}

/** LevelDB's own error only reports the failure; the cause has the reason. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

export interface Snapshot {
  readonly agentId: string;
  /** By file key. */
  readonly rows: ReadonlyMap<string, FileRow>;
  /** Positions of inputs without files, by name. */
  readonly positions: ReadonlyMap<string, string>;
}

const NAME = "registry.snapshot.json";

/** Replaces the snapshot in `folder`. */
export function writeSnapshot(folder: string, { agentId, rows, positions }: Snapshot): void {
  const content = {
    format: 1,
    agentId,
    files: Object.fromEntries(rows),
    positions: Object.fromEntries(positions),
  };
  writeFileAtomic(join(folder, NAME), `${JSON.stringify(content)}\n`, PRIVATE);
}

/** Returns the snapshot in `folder`, or null if there is none or it can't be read. */
export function readSnapshot(folder: string): Snapshot | null {
  const path = join(folder, NAME);
  if (!existsSync(path)) return null;
  try {
    const content = JSON.parse(readFileSync(path, "utf8")) as {
      agentId: string;
      files: object;
      positions?: Record<string, unknown>; // not in snapshots of 0.2.0
    };
    const { agentId, files, positions = {} } = content;
    const rows = new Map<string, FileRow>();
    for (const [key, value] of Object.entries(files)) {
      const row = parseRow(JSON.stringify(value));
      if (row !== null) rows.set(key, row);
    }
    const texts = Object.entries(positions).map(([name, value]) => [name, String(value)] as const);
    return { agentId, rows, positions: new Map(texts) };
  } catch {
    return null;
  }
}

/**
 * Returns the epoch after `known` and writes it down. The epoch is part of message ids, which the hub's log takes for
 * repetitions when it has seen them. So it is also kept outside the database, and where both may be old the clock makes
 * the step: `nowMs`, null if they aren't. Throws file_unreadable, and the system's error if it can't be written.
 */
export function nextEpoch(folder: string, known: number, nowMs: number | null): number {
  const path = join(folder, "epoch");
  let kept = 0;
  try {
    if (existsSync(path)) kept = Number(readFileSync(path, "utf8")) || 0;
  } catch (error) {
    throw new AppError("file_unreadable", `cannot read ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const last = Math.max(known, kept);
  const next = nowMs === null ? last + 1 : Math.max(last + 1, Math.floor(nowMs / 1_000));
  writeFileAtomic(path, `${next}\n`, PRIVATE);
  return next;
}
