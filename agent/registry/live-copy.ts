/** Reads a registry that an agent holds, by a copy of its files: LevelDB lets one process alone open a database. */

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Level } from "level";

/** A copy taken while files come and go may lack one; the next one has it. */
const TRIES = 3;
/** Of the agent that runs; the copy is nobody's. */
const LOCK = "LOCK";

/** Resolves with all entries of the database at `path` as of now, or with null where no copy of it can be read. */
export async function readLiveEntries(path: string): Promise<Map<string, string> | null> {
  for (let tries = 0; tries < TRIES; tries++) {
    let folder = "";
    try {
      folder = mkdtempSync(join(tmpdir(), "tailrace-registry-"));
      cpSync(path, folder, { recursive: true, filter: (source) => basename(source) !== LOCK });
      const entries = await readEntries(folder);
      if (entries.has("m/agent")) return entries;
    } catch {
      // Taken in the middle of a change: once more. Where there is no room for it the snapshot is shown.
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
