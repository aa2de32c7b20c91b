/**
 * Imports the positions of another shipper's registry: Filebeat 6 and 7 in each of their three layouts, inputs `log`,
 * `container` and `filestream`. Files that can't be imported are reported and read from their start.
 */

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ANCHOR_BYTES, fileKey, HEAD_BYTES, readAnchor, readHead } from "#agent/harvester/identity.ts";
import { type FileRow, isOffset, newRow } from "#agent/registry/row.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** The state of a file in the other shipper's registry. */
export interface ForeignState {
  readonly source: string;
  readonly offset: number;
  /** Identity of the file; undefined if its path is the identity. */
  readonly file?: { readonly inode: number; readonly device: number };
}

/** What was not taken over, by its path or key, with the reason. */
type Skipped = readonly (readonly [name: string, reason: string])[];

export interface ForeignRegistry {
  readonly states: readonly ForeignState[];
  readonly skipped: Skipped;
}

export interface ImportResult {
  readonly rows: Map<string, FileRow>;
  readonly skipped: Skipped;
}

/** Returns what is at `path`: a file of Filebeat 6 (or `data.json` of 7.0), or a registry folder of 7. Throws file_unreadable or data_corrupt. */
export function readFilebeatRegistry(path: string): ForeignRegistry {
  try {
    if (!statSync(path).isDirectory()) return registryOf(listed(readFileSync(path, "utf8")));
    const inner = join(path, "filebeat");
    const folder = existsSync(inner) ? inner : path;
    const single = join(folder, "data.json");
    return registryOf(existsSync(single) ? listed(readFileSync(single, "utf8")) : readFolder(folder));
  } catch (error) {
    if (error instanceof AppError) throw error;
    const isSyntax = error instanceof SyntaxError;
    throw new AppError(
      isSyntax ? "data_corrupt" : "file_unreadable",
      `cannot read the registry ${path}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/**
 * Makes rows for the existing files that an input reads. `inputOf`: the id of the input that reads a path;
 * `hasBirthTimes`: as the agent determined it for this system.
 */
export function convertStates(
  { states, skipped: unknown }: ForeignRegistry,
  inputOf: (path: string) => string | undefined,
  hasBirthTimes: boolean,
): ImportResult {
  const rows = new Map<string, FileRow>();
  const skipped = [...unknown];
  for (const state of states) {
    const path = findFile(state);
    if (path === null) {
      skipped.push([state.source, "the file no longer exists"]);
      continue;
    }
    const inputId = inputOf(state.source) ?? inputOf(path);
    if (inputId === undefined) {
      skipped.push([path, "no input of the settings reads it"]);
      continue;
    }
    const fd = openSync(path, "r");
    try {
      const stat = fstatSync(fd, { bigint: true });
      if (Number(stat.size) < state.offset) {
        skipped.push([path, `it has ${stat.size} bytes, fewer than the ${state.offset} that were read`]);
        continue;
      }
      const row = newRow(inputId, path, state.offset, Date.now());
      row.head = readHead(fd, Math.min(HEAD_BYTES, state.offset));
      row.anchor = readAnchor(fd, state.offset, Math.min(ANCHOR_BYTES, state.offset));
      const key = fileKey(stat, hasBirthTimes);
      // Two inputs may have read it: lines that one of them sent aren't sent again.
      if ((rows.get(key)?.sent ?? -1) < state.offset) rows.set(key, row);
    } finally {
      closeSync(fd);
    }
  }
  return { rows, skipped };
}

/** Layout since 7.9: a checkpoint and the operations since then. */
function readFolder(folder: string): Iterable<readonly [key: string, entry: unknown]> {
  const states = new Map<string, unknown>();
  const newest = readdirSync(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .at(-1);
  if (newest !== undefined) {
    const checkpoint = JSON.parse(readFileSync(join(folder, newest), "utf8")) as { _key?: unknown }[];
    for (const each of checkpoint) if (typeof each._key === "string") states.set(each._key, each);
  }
  const log = join(folder, "log.json");
  if (newest === undefined && !existsSync(log))
    throw new AppError("data_corrupt", `${folder} holds no registry: neither data.json nor log.json`);
  if (existsSync(log)) applyLog(readFileSync(log, "utf8"), states);
  return states;
}

/** Two lines an operation; the last one may be torn. */
function applyLog(text: string, states: Map<string, unknown>): void {
  const lines = text.split("\n");
  for (let at = 0; at + 1 < lines.length; at += 2) {
    let entry: { k?: unknown; v?: unknown };
    let operation: { op?: unknown };
    try {
      operation = JSON.parse(lines[at]!) as typeof operation;
      entry = JSON.parse(lines[at + 1]!) as typeof entry;
    } catch {
      return;
    }
    if (typeof entry.k !== "string") continue;
    if (operation.op === "remove") states.delete(entry.k);
    else states.set(entry.k, entry.v);
  }
}

/** Returns the entries of a list, each under its number. */
function listed(json: string): (readonly [key: string, entry: unknown])[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw new AppError("data_corrupt", "the registry isn't a list of files");
  return list.map((entry: unknown, at) => [`entry ${at + 1}`, entry] as const);
}

function registryOf(entries: Iterable<readonly [key: string, entry: unknown]>): ForeignRegistry {
  const states: ForeignState[] = [];
  const skipped: [string, string][] = [];
  for (const [key, entry] of entries) {
    const found = readEntry(key, isObject(entry) ? entry : {});
    if (typeof found === "string") skipped.push([key, found]);
    else states.push(found);
  }
  return { states, skipped };
}

/** Returns a file's state, or why there is none. Inputs `log` and `container` write it flat, `filestream` in `cursor` and `meta`. */
function readEntry(key: string, entry: JsonObject): ForeignState | string {
  const { source, offset, FileStateOS: os, cursor, meta } = entry;
  if (isObject(meta) && typeof meta["source"] === "string")
    return readFilestream(key, meta["source"], isObject(cursor) ? cursor["offset"] : 0, meta);
  if (typeof source !== "string" || !isOffset(offset)) return "it isn't a place in a file";
  const { inode, device } = isObject(os) ? os : {};
  if (typeof inode !== "number" || typeof device !== "number") return "it doesn't tell which file it means";
  return { source, offset, file: { inode, device } };
}

/** A key ends with the kind of the file's identity and the identity: `filestream::ID::native::INODE-DEVICE`. */
function readFilestream(
  key: string,
  source: string,
  offset: unknown,
  { identifier_name: kind }: JsonObject,
): ForeignState | string {
  if (!isOffset(offset)) return "it isn't a place in a file";
  if (kind === "path") return { source, offset };
  const [, inode, device] = /::native::(\d+)-(\d+)$/.exec(key) ?? [];
  if (kind !== "native" || inode === undefined)
    return `a file that is known by its ${String(kind)} can't be identified uniquely`;
  return { source, offset, file: { inode: Number(inode), device: Number(device) } };
}

/** Returns where the file is now: at its path, or under another name in its folder. */
function findFile({ source, file }: ForeignState): string | null {
  const isIt = (path: string): boolean => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return false;
    return file === undefined || (stat.ino === file.inode && stat.dev === file.device);
  };
  if (isIt(source)) return source;
  if (file === undefined) return null;
  const folder = dirname(source);
  if (!existsSync(folder)) return null;
  return (
    readdirSync(folder)
      .map((name) => join(folder, name))
      .find(isIt) ?? null
  );
}
