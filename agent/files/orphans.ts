/** Finds files that the registry has and the first scan after a start did not find. */

import { readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isAtOrBelow, statOrNull } from "#agent/discovery/path.ts";
import type { Found } from "#agent/discovery/scanner.ts";
import { inodeKey, inodeOf } from "#agent/harvester/identity.ts";
import type { Registry } from "#agent/registry/registry.ts";
import { bornAt, type Entry, type FileIndex, isFile, newEntry } from "./file-index.ts";

export interface OrphanOptions {
  readonly inputId: string;
  readonly registry: Registry;
  readonly index: FileIndex;
  readonly hasBirthTimes: boolean;
  /** Paths that the scan could not read: files there may be at their paths. */
  readonly unseen: ReadonlySet<string>;
  /** Opens a file that was found again under another name. */
  readonly open: (entry: Entry, found: Found) => void;
}

/**
 * Adds them to the index, so that they are forgotten in time, and opens those that were renamed in their folder. Their
 * rows stay for that time: copies that were seen already may continue where they ended. Returns the bytes that are
 * known to be lost with the rest.
 */
export function adoptOrphans(options: OrphanOptions): number {
  const { inputId, registry, index, hasBirthTimes, unseen, open } = options;
  let lostBytes = 0;
  const folders = new Map<string, Map<string, Found>>();
  for (const [key, row] of registry.rows()) {
    if (row.input !== inputId || isAtOrBelow(row.path, unseen)) continue;
    const inode = inodeOf(key);
    const entry = index.get(inode);
    if (entry !== undefined && isFile(entry, key)) continue;
    const moved = findMoved(key, row.path, folders, hasBirthTimes);
    const isComplete = row.size === row.sent && moved?.stat.size === row.sent;
    if (moved !== null && !isComplete) {
      const again = newEntry(inode, hasBirthTimes ? moved.stat.birthtimeMs : 0, moved.path, key, 0);
      index.add(again);
      row.size = -1; // nothing has changed in it, but its last line won't grow any more
      open(again, moved);
      if (again.harvester !== null) continue;
    } else {
      const orphan = newEntry(inode, Number.NaN, row.path, key, 0);
      // Of several files that had the inode one after the other, one represents it.
      if (index.get(inode) === undefined) index.add(orphan);
      else index.addReplaced(orphan);
    }
    lostBytes += Math.max(0, row.known - row.sent);
  }
  return lostBytes;
}

/** Looks for a file in its folder; each folder is listed once, into `folders`. */
function findMoved(
  key: string,
  before: string,
  folders: Map<string, Map<string, Found>>,
  hasBirthTimes: boolean,
): Found | null {
  for (const folder of foldersOf(before)) {
    const files = folders.get(folder) ?? filesIn(folder);
    folders.set(folder, files);
    const found = files.get(inodeOf(key));
    if (found !== undefined && bornAt(key, hasBirthTimes ? found.stat.birthtimeMs : 0)) return found;
  }
  return null;
}

function filesIn(folder: string): Map<string, Found> {
  const files = new Map<string, Found>();
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const stat = statOrNull(path);
    if (stat?.isFile()) files.set(inodeKey(stat.dev, stat.ino), { raw: path, path, stat });
  }
  return files;
}

/** The folder of a path and, where that is a link, the folder it leads to: rotation takes place there. */
function foldersOf(path: string): string[] {
  try {
    return [...new Set([dirname(path), dirname(realpathSync(path))])];
  } catch {
    return [dirname(path)];
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
