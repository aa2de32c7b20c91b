/**
 * Takes over how far another shipper has read its files: registries of Filebeat 6 and 7, in each of their
 * three layouts. An entry that matches no existing file is reported; such a file is read from its start.
 */

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ANCHOR_BYTES, fileKey, HEAD_BYTES, readAnchor, readHead } from "#agent/harvester/identity.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import { AppError } from "#proto/kit/errors.ts";

/** A file as the other shipper knows it. */
export interface ForeignState {
  readonly source: string;
  readonly offset: number;
  readonly inode: number;
  readonly device: number;
}

export interface ImportResult {
  readonly rows: Map<string, FileRow>;
  /** Paths that were not taken over, with the reason. */
  readonly skipped: readonly (readonly [path: string, reason: string])[];
}

/** Returns the states at `path`: a file of Filebeat 6 (or `data.json` of 7.0), or a registry folder of 7. Throws file_unreadable or data_corrupt. */
export function readFilebeatRegistry(path: string): ForeignState[] {
  try {
    if (!statSync(path).isDirectory()) return statesOf(JSON.parse(readFileSync(path, "utf8")));
    const inner = join(path, "filebeat");
    const folder = existsSync(inner) ? inner : path;
    const single = join(folder, "data.json");
    return existsSync(single) ? statesOf(JSON.parse(readFileSync(single, "utf8"))) : readFolder(folder);
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

/** Makes rows for the files that are there. `hasBirthTimes`: as the agent finds it out for this system. */
export function convertStates(
  states: readonly ForeignState[],
  inputId: string,
  hasBirthTimes: boolean,
): ImportResult {
  const rows = new Map<string, FileRow>();
  const skipped: [string, string][] = [];
  for (const state of states) {
    const path = findFile(state);
    if (path === null) {
      skipped.push([state.source, "the file isn't there any more"]);
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
      rows.set(fileKey(stat, hasBirthTimes), row);
    } finally {
      closeSync(fd);
    }
  }
  return { rows, skipped };
}

/** Layout since 7.9: a checkpoint and the operations since then. */
function readFolder(folder: string): ForeignState[] {
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
  return statesOf([...states.values()]);
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

function statesOf(value: unknown): ForeignState[] {
  if (!Array.isArray(value)) throw new AppError("data_corrupt", "the registry is no list of files");
  return value.flatMap((each) => {
    const { source, offset, FileStateOS: os } = (each ?? {}) as Record<string, unknown>;
    const { inode, device } = (os ?? {}) as Record<string, unknown>;
    const isFile = typeof source === "string" && Number.isSafeInteger(offset) && (offset as number) >= 0;
    if (!isFile || typeof inode !== "number" || typeof device !== "number") return [];
    return [{ source, offset: offset as number, inode, device }];
  });
}

/** Returns where the file is now: at its path, or under another name in its folder. */
function findFile({ source, inode, device }: ForeignState): string | null {
  const isIt = (path: string): boolean => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.ino === inode && stat.dev === device;
  };
  if (isIt(source)) return source;
  const folder = dirname(source);
  if (!existsSync(folder)) return null;
  return (
    readdirSync(folder)
      .map((name) => join(folder, name))
      .find(isIt) ?? null
  );
}
