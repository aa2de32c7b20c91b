/** Entries of systemd's journal (systemd.journal-fields(7)) as events: members as `journalctl -o json` prints them. */

import { parseEventObject } from "#proto/codec/json.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** An entry as an event. */
export interface JournalEntry {
  readonly message: Buffer;
  /** ms since 1970-01-01 UTC; 0: unknown. */
  readonly timeMs: number;
  readonly fields: JsonObject;
  /** Its position in the journal. */
  readonly cursor: string;
}

/** Names of severities, RFC 5424 section 6.2.1. */
const LEVELS = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"];

/** Fields of the journal by their names in events. */
const TEXTS: readonly (readonly [field: string, path: readonly [string, string, string?]])[] = [
  ["_HOSTNAME", ["host", "hostname"]],
  ["_COMM", ["process", "name"]],
  ["_EXE", ["process", "executable"]],
  ["_CMDLINE", ["process", "command_line"]],
  ["SYSLOG_IDENTIFIER", ["log", "syslog", "appname"]],
  ["_SYSTEMD_UNIT", ["systemd", "unit"]],
  ["_SYSTEMD_USER_UNIT", ["systemd", "user_unit"]],
  ["_SYSTEMD_SLICE", ["systemd", "slice"]],
  ["_TRANSPORT", ["systemd", "transport"]],
  ["_BOOT_ID", ["systemd", "boot_id"]],
  ["CONTAINER_NAME", ["container", "name"]],
  ["CONTAINER_ID_FULL", ["container", "id"]],
  ["CODE_FILE", ["log", "origin", "file"]],
];
const NUMBERS: typeof TEXTS = [
  ["_PID", ["process", "pid"]],
  ["_UID", ["user", "id"]],
];

/** Returns the entry that a line holds, or null if it is none. */
export function readJournalEntry(line: string): JournalEntry | null {
  const entry = parseEventObject(line);
  return entry === undefined ? null : journalEntryOf(entry);
}

/** Returns the entry of these fields, or null if it has no cursor. */
export function journalEntryOf(entry: JsonObject): JournalEntry | null {
  const cursor = entry["__CURSOR"];
  if (typeof cursor !== "string") return null;
  const microseconds = Number(entry["_SOURCE_REALTIME_TIMESTAMP"] ?? entry["__REALTIME_TIMESTAMP"]);
  const timeMs = Math.floor(microseconds / 1_000);
  return {
    cursor,
    message: messageOf(entry["MESSAGE"]),
    timeMs: Number.isSafeInteger(timeMs) ? timeMs : 0,
    fields: fieldsOf(entry),
  };
}

/** The journal gives what isn't UTF-8 as an array of bytes, and fields that occur twice as an array of texts. */
function messageOf(value: unknown): Buffer {
  if (typeof value === "string") return Buffer.from(value);
  if (!Array.isArray(value)) return Buffer.alloc(0);
  const isBytes = value.every((each) => typeof each === "number");
  return isBytes ? Buffer.from(value as number[]) : Buffer.from(value.map(String).join("\n"));
}

function fieldsOf(entry: JsonObject): JsonObject {
  const fields: Record<string, Record<string, unknown>> = {};
  const put = ([first, second, third]: readonly [string, string, string?], value: unknown): void => {
    const outer = (fields[first] ??= {});
    if (third === undefined) {
      outer[second] = value;
      return;
    }
    const inner = (outer[second] ?? {}) as JsonObject;
    inner[third] = value;
    outer[second] = inner;
  };
  for (const [name, path] of TEXTS) if (typeof entry[name] === "string") put(path, entry[name]);
  for (const [name, path] of NUMBERS) {
    const value = Number(entry[name]);
    if (entry[name] !== undefined && Number.isSafeInteger(value)) put(path, value);
  }
  const priority = Number(entry["PRIORITY"] ?? Number.NaN);
  const level = LEVELS[priority];
  if (level !== undefined) {
    put(["log", "level"], level);
    put(["log", "syslog", "priority"], priority);
  }
  return fields;
}
