/** An event on its way through a pipeline: nested fields, tags, a time, and metadata that never leaves the pipeline. */

import { isoText } from "#proto/codec/iso-text.ts";
import { isRawJson, type JsonObject } from "#proto/codec/json.ts";
import { IsoTime, LocalTime, MAX_ISO_MS, MIN_ISO_MS } from "#proto/codec/time.ts";
import type { FieldReference } from "./field-reference.ts";

/** A point in time as a field's value. */
export class Timestamp {
  /** ms since 1970-01-01 UTC, years 0..9999. */
  readonly ms: number;

  constructor(ms: number) {
    this.ms = Math.min(Math.max(Math.trunc(ms), MIN_ISO_MS), MAX_ISO_MS);
  }

  toString(): string {
    return isoText(this.ms);
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A value stands where a container was to be: `[a][b]` set while `a` is text. */
export class FieldConflict extends Error {}

/** Tag of an event whose `@timestamp` was no time; the value then stands in `_@timestamp`. */
const TIMESTAMP_FAILURE_TAG = "_timestampparsefailure";

const TIMESTAMP = "@timestamp";
const TAGS = "tags";

/**
 * Events of at most so many fields are made anew where one is removed: an object of which something was deleted takes twice
 * as long to be written as JSON. With more fields an object is of that slow kind anyway.
 */
const REBUILT_MEMBERS = 64;

const ENCODER = new TextEncoder();
const ISO = new IsoTime(new LocalTime());

export class Event {
  fields: JsonObject;
  metadata: JsonObject;
  /** A cancelled event goes no further. */
  cancelled = false;

  /** Takes `fields` over; `timeMs` is its time where it has none, ms since 1970-01-01 UTC. */
  constructor(fields: JsonObject, timeMs: number) {
    this.fields = fields;
    this.metadata = {};
    if (Object.hasOwn(fields, "@metadata")) {
      if (isObject(fields["@metadata"])) this.metadata = fields["@metadata"];
      delete fields["@metadata"];
    }
    const time = fields[TIMESTAMP];
    if (time === undefined) fields[TIMESTAMP] = new Timestamp(timeMs);
    else if (!(time instanceof Timestamp)) this.#coerceTime(time, timeMs);
  }

  /** ms since 1970-01-01 UTC. */
  get timeMs(): number {
    const time = this.fields[TIMESTAMP];
    return time instanceof Timestamp ? time.ms : 0;
  }

  /** Returns the value, or undefined where there is none. */
  get(reference: FieldReference): unknown {
    const { path } = reference;
    let at: unknown = reference.inMetadata ? this.metadata : this.fields;
    for (let depth = 0; depth < path.length; depth++) {
      if (at === null || typeof at !== "object") return undefined;
      at = member(at, path[depth]!);
    }
    return at;
  }

  /** Returns true where there is a value, null too. */
  has(reference: FieldReference): boolean {
    return this.get(reference) !== undefined;
  }

  /** Sets a value, making objects on the way. Throws FieldConflict where a plain value is in the way. */
  set(reference: FieldReference, value: unknown): void {
    const { path, inMetadata } = reference;
    if (path.length === 0) {
      this.metadata = isObject(value) ? value : {};
      return;
    }
    if (!inMetadata && path.length === 1 && path[0] === TIMESTAMP && !(value instanceof Timestamp)) {
      this.#coerceTime(value, this.timeMs);
      return;
    }
    let at: object = inMetadata ? this.metadata : this.fields;
    for (let depth = 0; depth < path.length - 1; depth++) {
      const next = member(at, path[depth]!);
      if (next !== null && typeof next === "object" && !(next instanceof Timestamp)) {
        at = next;
      } else if (next === undefined || next === null) {
        const made = {};
        put(at, path[depth]!, made);
        at = made;
      } else {
        throw new FieldConflict(`${reference.text}: ${path[depth]} is ${describe(next)}, not an object`);
      }
    }
    put(at, path.at(-1)!, value);
  }

  /** Removes a value and returns it; undefined where there was none. */
  remove(reference: FieldReference): unknown {
    const { path } = reference;
    if (path.length === 0) {
      const before = this.metadata;
      this.metadata = {};
      return before;
    }
    if (path.length === 1 && !reference.inMetadata) return this.#removeField(path[0]!);
    let at: unknown = reference.inMetadata ? this.metadata : this.fields;
    for (let depth = 0; depth < path.length - 1; depth++) {
      if (at === null || typeof at !== "object") return undefined;
      at = member(at, path[depth]!);
    }
    if (at === null || typeof at !== "object") return undefined;
    return take(at, path.at(-1)!);
  }

  /** Adds a tag unless the event has it. A `tags` that is neither text nor a list becomes `_tags`. */
  tag(name: string): void {
    const tags = this.fields[TAGS];
    if (Array.isArray(tags)) {
      if (!tags.includes(name)) tags.push(name);
    } else if (typeof tags === "string" && tags !== "") {
      if (tags !== name) this.fields[TAGS] = [tags, name];
    } else {
      if (isObject(tags)) this.fields["_tags"] = tags;
      this.fields[TAGS] = [name];
    }
  }

  /** Ends the event's way. */
  cancel(): void {
    this.cancelled = true;
  }

  /** Returns an independent copy. */
  clone(): Event {
    const copy = new Event(copyValue(this.fields) as JsonObject, this.timeMs);
    copy.metadata = copyValue(this.metadata) as JsonObject;
    return copy;
  }

  /** Returns the event as JSON, without metadata. */
  toJson(): string {
    const { fields } = this;
    const time = fields[TIMESTAMP];
    if (!(time instanceof Timestamp)) return JSON.stringify(fields);
    // Asking an object for its JSON takes the engine longer than writing all other fields.
    fields[TIMESTAMP] = isoText(time.ms);
    try {
      return JSON.stringify(fields);
    } finally {
      fields[TIMESTAMP] = time;
    }
  }

  #removeField(name: string): unknown {
    const value = member(this.fields, name);
    const names = Object.keys(this.fields);
    if (value === undefined || names.length > REBUILT_MEMBERS) return take(this.fields, name);
    const rest: JsonObject = {};
    for (const each of names) if (each !== name) put(rest, each, this.fields[each]);
    this.fields = rest;
    return value;
  }

  #coerceTime(value: unknown, fallbackMs: number): void {
    const timeMs = typeof value === "string" ? isoMs(value) : undefined;
    this.fields[TIMESTAMP] = new Timestamp(timeMs ?? fallbackMs);
    if (timeMs !== undefined) return;
    this.fields["_@timestamp"] = value;
    this.tag(TIMESTAMP_FAILURE_TAG);
  }
}

/** Returns a deep copy of a field's value; times and raw numbers are shared, as they never change. */
export function copyValue(value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof Timestamp || isRawJson(value))
    return value;
  if (Array.isArray(value)) return value.map(copyValue);
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) put(copy, key, copyValue((value as JsonObject)[key]));
  return copy;
}

/** Returns true for a JSON object: no list, no time, no raw number. */
export function isObject(value: unknown): value is JsonObject {
  return (
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    !(value instanceof Timestamp) &&
    !isRawJson(value)
  );
}

/** Returns a value as text, as it stands in messages and formats; lists comma-separated, objects as JSON. */
export function valueText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    case "object":
      if (value === null) return "";
      if (value instanceof Timestamp) return value.toString();
      if (isRawJson(value)) return value.rawJSON;
      return Array.isArray(value) ? value.map(valueText).join(",") : JSON.stringify(value);
    default:
      return "";
  }
}

function member(container: object, key: string): unknown {
  if (Array.isArray(container)) {
    const index = listIndex(container, key);
    return index < 0 ? undefined : container[index];
  }
  return Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
}

/** Sets a member by its literal name; `__proto__` is a name like any other. */
function put(container: object, key: string, value: unknown): void {
  if (Array.isArray(container)) {
    const index = /^[0-9]{1,6}$/.test(key) ? Number(key) : listIndex(container, key);
    if (index < 0) throw new FieldConflict(`[${key}] is no place in a list`);
    while (container.length < index) container.push(null);
    container[index] = value;
  } else if (key === "__proto__") {
    Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    (container as JsonObject)[key] = value;
  }
}

function take(container: object, key: string): unknown {
  const value = member(container, key);
  if (value === undefined) return undefined;
  if (Array.isArray(container)) container.splice(listIndex(container, key), 1);
  else delete (container as JsonObject)[key];
  return value;
}

/** Returns the place that `key` names in a list, -1 counting from the end; -1 for none. */
function listIndex(list: readonly unknown[], key: string): number {
  if (!/^-?[0-9]{1,9}$/.test(key)) return -1;
  const index = Number(key) < 0 ? list.length + Number(key) : Number(key);
  return index >= 0 && index < list.length ? index : -1;
}

function isoMs(text: string): number | undefined {
  if (text.length > 64) return undefined;
  const bytes = ENCODER.encode(text);
  return ISO.read(bytes, 0, bytes.length) && ISO.end === bytes.length ? ISO.timeMs : undefined;
}

function describe(value: unknown): string {
  return value instanceof Timestamp ? "a time" : `a ${typeof value}`;
}
