/**
 * `tailrace-agent registry`: prints, exports or imports the registry, or resets a file in it. Import and reset need
 * the agent stopped.
 */

import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Level } from "level";
import { matchesPath } from "#agent/discovery/pattern.ts";
import { systemHasBirthTimes } from "#agent/harvester/identity.ts";
import { excluderOf, type FileSettings, patternsOf } from "#agent/inputs/files/file-settings.ts";
import { type FileRow, newerRow, parseRow } from "#agent/registry/row.ts";
import { type Database, openStore, readSnapshot } from "#agent/registry/store.ts";
import type { AgentSettings } from "#agent/settings/config.ts";
import type { InputSettings } from "#agent/settings/input-settings.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkFolderOwner } from "#proto/kit/files/folder-owner.ts";
import { createLogger, type Logger } from "#proto/kit/log.ts";
import { printable, printableJson } from "#proto/kit/printable.ts";
import { convertStates, readFilebeatRegistry } from "./filebeat-registry.ts";
import type { Terminal } from "./terminal.ts";

/** Rows by file key. */
type Rows = ReadonlyMap<string, FileRow>;

/** The format of an export; that of the snapshot. */
interface Exported {
  readonly format: number;
  readonly files: Readonly<Record<string, unknown>>;
}

/** The result of an import. */
interface Imported {
  readonly files: number;
  readonly skipped: readonly (readonly [path: string, reason: string])[];
}

/** A copy taken while files change may lack one; the next copy has it. */
const TRIES = 3;
/** Of the agent that runs; the copy has no owner. */
const LOCK = "LOCK";

/** The words after `registry` on the command line, and its option `--json`. */
export interface RegistryArguments {
  readonly argument: string;
  readonly operand: string;
  readonly json: boolean;
}

/**
 * Runs the command; resolves with true if it changed or printed something. Throws usage_invalid and what the registry
 * throws.
 */
export async function registryCommand(
  settings: AgentSettings,
  { argument, operand, json }: RegistryArguments,
  terminal: Terminal,
): Promise<boolean> {
  const { pathData, inputs } = settings;
  const log = createLogger({ name: "agent", level: "error", pretty: true });
  if (["import", "reset"].includes(argument) === (operand === "")) {
    throw new AppError(
      "usage_invalid",
      "write registry [export], registry import PATH or registry reset FILE",
    );
  }
  switch (argument) {
    case "":
    case "export": {
      const rows = await readRows(pathData, log, (path) =>
        terminal.warn(`the agent is running; this is ${path}, up to 10 minutes old\n`),
      );
      terminal.print(argument === "export" ? exportRows(rows) : describeRows(rows, json));
      return true;
    }
    case "import": {
      const { files, skipped } = await importRows(pathData, operand, readerOf(inputs), log);
      for (const [path, reason] of skipped) terminal.warn(`${printable(path)}: left out, ${reason}\n`);
      terminal.print(`${files} files imported, ${skipped.length} skipped\n`);
      return true;
    }
    case "reset": {
      const files = await resetFile(pathData, operand, log);
      terminal.print(`${files} files forgotten\n`);
      return files > 0;
    }
    default:
      throw new AppError("usage_invalid", `registry ${argument}: use export, import or reset`);
  }
}

/** Returns a function that finds the input of a path. */
function readerOf(inputs: readonly InputSettings[]): (path: string) => string | undefined {
  const readers = inputs
    .filter(({ plugin }) => ["log", "container"].includes(plugin.type))
    .map(({ id, options }) => {
      const settings = options as FileSettings;
      return { id, patterns: patternsOf(settings), isExcluded: excluderOf(settings) };
    });
  return (path) =>
    readers.find(({ patterns, isExcluded }) => matchesPath(patterns, path) && !isExcluded(path))?.id;
}

function describeRows(rows: Rows, json: boolean): string {
  if (json) return `${printableJson(Object.fromEntries(rows), 2)}\n`;
  const lines = [...rows].map(
    ([key, row]) =>
      `${printable(row.path)}\n  file ${key} generation ${row.generation}, sent ${row.sent}, committed ${row.committed}\n`,
  );
  return `${lines.join("")}${rows.size} files\n`;
}

/**
 * Resolves with all rows, also while an agent holds the registry; if no copy of it can be read then, with those of its
 * snapshot after `onSnapshot`.
 */
export async function readRows(
  folder: string,
  log: Logger,
  onSnapshot: (path: string) => void,
): Promise<Rows> {
  try {
    return await withStore(folder, log, (_, rows) => Promise.resolve(rows));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "data_locked") throw error;
    const entries = await readLiveEntries(join(folder, "registry"));
    if (entries !== null) return rowsOf(entries);
    const snapshot = readSnapshot(folder);
    if (snapshot === null) throw error;
    onSnapshot(join(folder, "registry.snapshot.json"));
    return snapshot.rows;
  }
}

/** Returns the text of an export. */
export function exportRows(rows: Rows): string {
  return `${printableJson({ format: 1, files: Object.fromEntries(rows) }, 2)}\n`;
}

/**
 * Imports an export of this agent, or a registry of Filebeat 6 or 7. Of two positions of one file the later one stays.
 * `inputOf`: the id of the input that reads a path; files of Filebeat that no input reads are left out. Throws
 * data_corrupt, data_locked or file_unreadable.
 */
export async function importRows(
  folder: string,
  path: string,
  inputOf: (path: string) => string | undefined,
  log: Logger,
): Promise<Imported> {
  const own = readExport(path);
  return await withStore(folder, log, async (database, known) => {
    const { rows, skipped } =
      own === null
        ? convertStates(readFilebeatRegistry(path), inputOf, systemHasBirthTimes(folder))
        : { rows: own, skipped: [] };
    await database.batch(
      [...rows].map(([key, row]) => {
        const before = known.get(key);
        const value = JSON.stringify(before === undefined ? row : newerRow(before, row));
        return { type: "put" as const, key: `f/${key}`, value };
      }),
      { sync: true } as object,
    );
    return { files: rows.size, skipped };
  });
}

/** Forgets a file by its path or its key, so that it is read from its start; resolves with how many rows that were. */
export async function resetFile(folder: string, name: string, log: Logger): Promise<number> {
  return await withStore(folder, log, async (database, rows) => {
    const path = resolve(name);
    const keys = [...rows].filter(([key, row]) => key === name || row.path === path).map(([key]) => key);
    const operations = keys.map((key) => ({ type: "del" as const, key: `f/${key}` }));
    await database.batch(operations, { sync: true } as object);
    return keys.length;
  });
}

async function withStore<T>(
  folder: string,
  log: Logger,
  work: (database: Database, rows: Map<string, FileRow>) => Promise<T>,
): Promise<T> {
  checkFolderOwner(folder, "tailrace-agent");
  const { database, entries } = await openStore(folder, log);
  try {
    return await work(database, rowsOf(entries));
  } finally {
    await database.close();
  }
}

function rowsOf(entries: ReadonlyMap<string, string>): Map<string, FileRow> {
  const rows = new Map<string, FileRow>();
  for (const [key, value] of entries) {
    const row = key.startsWith("f/") ? parseRow(value) : null;
    if (row !== null) rows.set(key.slice(2), row);
  }
  return rows;
}

/** Returns the rows of an export of this agent, or null if the file is something else. */
function readExport(path: string): Map<string, FileRow> | null {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
  let exported: Exported | null;
  try {
    exported = JSON.parse(readFileSync(path, "utf8")) as Exported | null;
  } catch (error) {
    throw new AppError("data_corrupt", `${path} isn't JSON: ${(error as Error).message}`, { cause: error });
  }
  if (exported === null || Array.isArray(exported) || typeof exported.files !== "object") return null;
  const rows = new Map<string, FileRow>();
  for (const [key, value] of Object.entries(exported.files)) {
    const row = parseRow(JSON.stringify(value));
    if (row === null) throw new AppError("data_corrupt", `${path}: the row of ${key} can't be read`);
    rows.set(key, row);
  }
  return rows;
}

/** Resolves with all entries of the database at `path` as of now, or with null if no copy of it can be read. */
async function readLiveEntries(path: string): Promise<Map<string, string> | null> {
  for (let tries = 0; tries < TRIES; tries++) {
    let folder = "";
    try {
      folder = mkdtempSync(join(tmpdir(), "tailrace-registry-"));
      cpSync(path, folder, { recursive: true, filter: (source) => basename(source) !== LOCK });
      const entries = await readEntries(folder);
      if (entries.has("m/agent")) return entries;
    } catch {
      // The copy was taken during a change: copy once more. On a full disk the snapshot is shown.
    } finally {
      if (folder !== "") rmSync(folder, { recursive: true, force: true });
    }
  }
  return null;
}

async function readEntries(path: string): Promise<Map<string, string>> {
  const database = new Level<string, string>(path, { keyEncoding: "utf8", valueEncoding: "utf8" });
  try {
    await database.open({ createIfMissing: false });
    return new Map(await database.iterator().all());
  } finally {
    await database.close();
  }
}
