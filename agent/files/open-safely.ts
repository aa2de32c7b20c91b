/**
 * Opens files that others may have prepared. The agent may read more than the owner of a folder that a pattern matches:
 * a symbolic or hard link in such a folder must not bring it to read and ship another user's files.
 */

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { displayPath, type RawPath } from "#agent/discovery/path.ts";

const OTHERS_WRITE = 0o002;
const ROOT_UID = 0;

/**
 * Returns a descriptor of the file at `raw`. Below `root` no link is followed; null: links are followed. Returns a
 * sentence where the path leads elsewhere. Throws the system's error.
 *
 * The check comes after the opening and is about the open file, so a link that is put in place meanwhile changes nothing.
 */
export function openWithin(raw: RawPath, path: string, root: string | null): number | string {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  if (root === null) return openSync(raw, flags);
  const fd = openSync(raw, flags | (isBelow(path, root) ? constants.O_NOFOLLOW : 0));
  const reason = fault(fd, path, root);
  if (reason === null) return fd;
  closeSync(fd);
  return reason;
}

function isBelow(path: string, root: string): boolean {
  return dirname(path) !== root;
}

function fault(fd: number, path: string, root: string): string | null {
  const folder = dirname(path);
  const opened = openedFolder(fd);
  // Fast path: where the path has no link at all, nothing of it need be looked up.
  if (opened !== null && opened !== folder && opened !== realBelow(folder, root))
    return `a symbolic link on its path leads to ${opened}; set symlinks: true to follow it`;
  return isForeignLink(fstatSync(fd), folder)
    ? "it has several names, and another user may have linked it here"
    : null;
}

/** Returns `folder`, which is `root` or below it, with the links on the path of `root` followed. */
function realBelow(folder: string, root: string): string {
  return (realpathSync(root) + folder.slice(root.length)).replace("//", "/");
}

/** Returns the folder in which the open file lies; null if the system doesn't provide it. */
function openedFolder(fd: number): string | null {
  try {
    return dirname(displayPath(asText(readlinkSync(`/proc/self/fd/${fd}`, "buffer"))));
  } catch {
    return null;
  }
}

function asText(bytes: Buffer): RawPath {
  const text = bytes.toString();
  return text.includes("\ufffd") ? bytes : text;
}

/** Returns true for a hard link in the folder at `path` that may have been made by another user than the file's owner. */
function isForeignLink(file: Stats, path: string): boolean {
  if (file.nlink < 2) return false;
  const folder = statSync(path);
  return (folder.mode & OTHERS_WRITE) !== 0 || (folder.uid !== ROOT_UID && folder.uid !== file.uid);
}
