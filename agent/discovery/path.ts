/** Paths as the file system has them: bytes, which need not be UTF-8. */

import { lstatSync, type Stats, statSync } from "node:fs";

/** The type that file system calls accept: text if the bytes are UTF-8, else the bytes. */
export type RawPath = string | Buffer;

const SLASH = Buffer.from("/");

/** Returns `folder`/`name`. */
export function joinPath(folder: RawPath, name: RawPath): RawPath {
  if (typeof folder === "string" && typeof name === "string")
    return folder.endsWith("/") ? folder + name : `${folder}/${name}`;
  const parts = [Buffer.from(folder), SLASH, Buffer.from(name)];
  return Buffer.concat(String(folder).endsWith("/") ? [parts[0]!, parts[2]!] : parts);
}

/** Returns a path for people, maps and messages: bytes that aren't UTF-8 as \xNN. Different paths stay different. */
export function displayPath(path: RawPath): string {
  if (typeof path === "string") return path;
  let text = "";
  for (let at = 0; at < path.length; ) {
    const length = characterLength(path, at);
    text +=
      length === 0 ? `\\x${path[at]!.toString(16).padStart(2, "0")}` : path.toString("utf8", at, at + length);
    at += Math.max(1, length);
  }
  return text;
}

/** Returns the length of the UTF-8 character at `at`, or 0 if there is none. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  return bytes.toString("utf8", at, at + length).includes("\ufffd") ? 0 : length;
}

/** Returns true if `path`, or a folder above it, is among `paths`. */
export function isAtOrBelow(path: string, paths: ReadonlySet<string>): boolean {
  if (paths.size === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1))
    if (paths.has(path.slice(0, end))) return true;
  return paths.has("/");
}

/** Returns the stat of what `path` leads to, or null if nothing can be seen there. */
export function statOrNull(path: RawPath): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** As `statOrNull`, but of a symbolic link itself. */
export function lstatOrNull(path: RawPath): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
