/** Distinguishes logs from other files in their folders: login records, journals, archives. */

import { basename } from "node:path";

/** Files that hold records, not lines, whatever their first bytes are; those of sysstat are named by day or date. */
const RECORD_FILES =
  /^(?:lastlog|wtmp|btmp|utmp|faillog|tallylog)(?:[.-]\d+)*$|^sa(?:\d\d|\d{8})$|\.journal~?$/;

/** First bytes of formats that begin with readable characters or none at all. */
const MAGIC: readonly (readonly [bytes: string, name: string])[] = [
  ["LPKSHHRH", "a systemd journal"],
  ["\x1f\x8b", "gzip data"],
  ["BZh", "bzip2 data"],
  ["\xfd7zXZ\0", "xz data"],
  ["\x28\xb5\x2f\xfd", "zstd data"],
  ["PK\x03\x04", "a zip archive"],
  ["\x7fELF", "a program"],
  ["SQLite format 3\0", "a database"],
];

/** Share of control characters from which on bytes aren't text. */
const CONTROL_SHARE = 0.3;

/**
 * Returns the kind of a file that isn't text, or null. `head`: its first bytes, at most 1,024; `wideText`: the text is
 * in an encoding that has NULs in it.
 */
export function binaryKind(path: string, head: Buffer, wideText = false): string | null {
  if (RECORD_FILES.test(basename(path))) return "login or journal records";
  const start = head.toString("latin1", 0, 16);
  for (const [bytes, name] of MAGIC) if (start.startsWith(bytes)) return name;
  if (wideText) return null;
  if (start.startsWith("\xff\xfe") || start.startsWith("\xfe\xff")) return "UTF-16 (set encoding: utf-16le)";
  return looksBinary(head) ? "binary data" : null;
}

function looksBinary(head: Buffer): boolean {
  // A program that continues writing at its old offset after a truncation leaves a hole of NULs before its text.
  let start = 0;
  while (start < head.length && head[start] === 0) start++;
  if (start === head.length) return false;
  let controls = 0;
  for (let at = start; at < head.length; at++) if (isControl(head[at]!)) controls++;
  return controls > (head.length - start) * CONTROL_SHARE;
}

/** Control characters that text doesn't hold; tab to carriage return and escape (colours) are common in logs. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
}
