/**
 * Turns a line that is one JSON object into a document. Its members stay where they are; time, message and level are
 * found under the names that loggers use.
 */

import { numberOf } from "#proto/codec/json.ts";
import { IsoTime, LocalTime, MAX_ISO_MS, MIN_ISO_MS } from "#proto/codec/time.ts";
import { isHash } from "#proto/event.ts";
import { isOfSource, isSourceMember, setDisplaced } from "#proto/event-members.ts";
import { type JsonObject, setMember } from "#proto/kit/json.ts";

/** Members that Tailrace sets itself; a line that has one of them, or a source's, is merged member by member. */
const OWN_MEMBERS = new Set([
  "@timestamp",
  "message",
  "host",
  "host.name",
  "input",
  "log",
  "event",
  "tags",
  "fields",
]);

/** Where loggers put the time, first found first taken. */
const TIME_MEMBERS = ["@timestamp", "timestamp", "time", "ts", "datetime", "date"];

const MESSAGE_MEMBERS = ["message", "msg"];

const LEVEL_MEMBERS = ["level", "severity", "lvl", "loglevel"];

/** Levels as numbers, the convention of bunyan and pino. */
const NUMERIC_LEVELS = new Map([
  [10, "trace"],
  [20, "debug"],
  [30, "info"],
  [40, "warn"],
  [50, "error"],
  [60, "fatal"],
]);

/** Epoch numbers below are seconds, ms, µs: each limit is the year 5138 in its unit. */
const SECONDS_LIMIT = 1e11;
const MILLISECONDS_LIMIT = 1e14;
const MICROSECONDS_LIMIT = 1e17;

/** Longest text of a level. */
const MAX_LEVEL_LENGTH = 16;

const ENCODER = new TextEncoder();
const ISO = new IsoTime(new LocalTime());

/** Returns true if the members of `line` can be kept as written beside those that Tailrace sets. */
export function needsNoMerge(line: JsonObject): boolean {
  for (const key in line) {
    if (isSourceMember(key)) return false;
    if (!OWN_MEMBERS.has(key)) continue;
    const value = line[key];
    const stays = key === "message" ? typeof value === "string" : key === "@timestamp" && isIsoTime(value);
    if (!stays) return false;
  }
  return true;
}

/** Returns true for a text that is an ISO 8601 time with a zone. */
export function isIsoTime(value: unknown): boolean {
  return typeof value === "string" && isoMs(value) !== undefined && ISO.hasZone;
}

/** Returns the time of a JSON line, ms since 1970-01-01 UTC, or undefined. */
export function timeOfJson(line: JsonObject): number | undefined {
  for (const name of TIME_MEMBERS) {
    const value = line[name];
    const number = numberOf(value);
    const timeMs =
      number !== undefined ? epochMs(number) : typeof value === "string" ? isoMs(value) : undefined;
    if (timeMs !== undefined && timeMs >= MIN_ISO_MS && timeMs <= MAX_ISO_MS) return timeMs;
  }
  return undefined;
}

/** Returns the text that a JSON line says, or undefined. */
export function messageOfJson(line: JsonObject): string | undefined {
  for (const name of MESSAGE_MEMBERS) {
    const value = line[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** Returns the level of a JSON line in lower case, or undefined. */
export function levelOfJson(line: JsonObject): string | undefined {
  for (const name of LEVEL_MEMBERS) {
    const value = line[name];
    if (typeof value === "string" && value !== "" && value.length <= MAX_LEVEL_LENGTH)
      return value.toLowerCase();
    const number = numberOf(value);
    if (number !== undefined) return NUMERIC_LEVELS.get(number);
  }
  return undefined;
}

/**
 * Merges `line` into `document`, whose members Tailrace has set. Objects are merged; where both have a value, that of
 * Tailrace stays and the line's goes under `json`, so that nothing of the line is lost.
 */
export function mergeLine(document: JsonObject, line: JsonObject): JsonObject {
  const displaced: JsonObject = {};
  for (const [key, value] of Object.entries(line)) {
    if (isOfSource(key, document)) {
      displaced[key] = value;
    } else if (key === "@timestamp") {
      if (!isIsoTime(value)) displaced[key] = value;
    } else if (key === "message") {
      if (typeof value !== "string") displaced[key] = value;
    } else if (key === "host.name") {
      if (!setHostName(document, value)) displaced[key] = value;
    } else if (!OWN_MEMBERS.has(key)) {
      setMember(document, key, value);
    } else if (key === "tags") {
      if (!addTags(document, value)) displaced[key] = value;
    } else if (key === "host" && isHash(value) && setHostName(document, value["name"])) {
      const { name: _, ...rest } = value;
      if (!mergeInto(document, key, rest)) displaced[key] = rest;
    } else if (!mergeInto(document, key, value)) {
      displaced[key] = value;
    }
  }
  setDisplaced(document, displaced);
  return document;
}

/** Takes the host that a line names for that of the machine it was read on; returns false for what isn't a name. */
export function setHostName(document: JsonObject, name: unknown): boolean {
  if (typeof name !== "string" || name === "") return false;
  const host = document["host"];
  document["host"] = { ...(isHash(host) ? host : {}), name };
  return true;
}

function addTags(document: JsonObject, value: unknown): boolean {
  const tags = typeof value === "string" ? [value] : value;
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) return false;
  const before = Array.isArray(document["tags"]) ? document["tags"] : [];
  document["tags"] = [...new Set([...before, ...tags])];
  return true;
}

/** Returns false if the two can't be combined. */
function mergeInto(document: JsonObject, key: string, value: unknown): boolean {
  if (!Object.hasOwn(document, key)) {
    setMember(document, key, value);
    return true;
  }
  const before = document[key];
  if (!isHash(before) || !isHash(value)) return before === value;
  const merged: JsonObject = { ...before };
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(merged, name)) setMember(merged, name, item);
    else if (!mergeInto(merged, name, item)) return false;
  }
  document[key] = merged;
  return true;
}

function epochMs(value: number): number | undefined {
  if (!(value > 0)) return undefined;
  if (value < SECONDS_LIMIT) return Math.floor(value * 1000);
  if (value < MILLISECONDS_LIMIT) return Math.floor(value);
  if (value < MICROSECONDS_LIMIT) return Math.floor(value / 1000);
  return undefined;
}

function isoMs(value: string): number | undefined {
  if (value.length < 19 || value.length > 40) return undefined;
  const bytes = ENCODER.encode(value);
  return ISO.read(bytes, 0, bytes.length) && ISO.end === bytes.length ? ISO.timeMs : undefined;
}
