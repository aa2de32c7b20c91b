/** A copy of the registry as one readable JSON file, for the day the database is damaged. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { type FileRow, parseRow } from "./row.ts";

export interface Snapshot {
  readonly agentId: string;
  readonly rows: Map<string, FileRow>;
}

const NAME = "registry.snapshot.json";

/** Replaces the snapshot in `folder`. */
export function writeSnapshot(folder: string, agentId: string, rows: ReadonlyMap<string, FileRow>): void {
  const files = Object.fromEntries(rows);
  writeFileAtomic(join(folder, NAME), `${JSON.stringify({ format: 1, agentId, files })}\n`);
}

/** Returns the snapshot in `folder`, or null where there is none or it can't be read. */
export function readSnapshot(folder: string): Snapshot | null {
  const path = join(folder, NAME);
  if (!existsSync(path)) return null;
  try {
    const { agentId, files } = JSON.parse(readFileSync(path, "utf8")) as { agentId: string; files: object };
    const rows = new Map<string, FileRow>();
    for (const [key, value] of Object.entries(files)) {
      const row = parseRow(JSON.stringify(value));
      if (row !== null) rows.set(key, row);
    }
    return { agentId, rows };
  } catch {
    return null;
  }
}
