/**
 * An event that passes through a pipeline: nested fields, tags, a time, and metadata that never leaves the pipeline.
 */

import { isoText } from "#proto/codec/iso-text.ts";
import { isRawJson } from "#proto/codec/json.ts";
import { IsoTime, LocalTime, MAX_ISO_MS, MIN_ISO_MS } from "#proto/codec/time.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { FieldConflict, member, put, take, withoutHoles } from "./event-members.ts";
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

/** Tag of an event whose `@timestamp` wasn't a time; `_@timestamp` then has the value. */
const TIMESTAMP_FAILURE_TAG = "_timestampparsefailure";
/** Tag of an event whose `tags` were neither a text nor a list of texts; `_tags` then has the value, in a list. */
const TAGS_FAILURE_TAG = "_tagsparsefailure";

const TIMESTAMP = "@timestamp";
const TAGS = "tags";
const TAGS_FAILURE = "_tags";

const ENCODER = new TextEncoder();
const ISO = new IsoTime(new LocalTime());

export class Event {
  metadata: JsonObject;
  /** A cancelled event goes no further. */
  cancelled = false;
  /** A field that was removed is `undefined` in it: an object of which a member is deleted is a slow one from then on. */
  #fields: JsonObject;
  #hasHoles = false;
  /** Members that are shared with other events; a member is copied before it is read or changed. */
  readonly #shared: Readonly<JsonObject> | undefined;

  /**
   * Takes `fields` over; `timeMs` is its time where it has none, ms since 1970-01-01 UTC. Objects that are the same member of
   * `shared` are other events' too and aren't changed.
   */
  constructor(fields: JsonObject, timeMs: number, shared?: Readonly<JsonObject>) {
    this.#fields = fields;
    this.#shared = shared;
    this.metadata = {};
    if (Object.hasOwn(fields, "@metadata")) {
      if (isHash(fields["@metadata"])) this.metadata = fields["@metadata"];
      delete fields["@metadata"];
    }
    const tags = fields[TAGS];
    if (tags !== undefined && !areTags(tags)) this.#displaceTags(tags);
    const time = fields[TIMESTAMP];
    if (time === undefined || time === null) fields[TIMESTAMP] = new Timestamp(timeMs);
    else if (!(time instanceof Timestamp)) this.#coerceTime(time, timeMs);
  }

  /** What the event consists of, without metadata. */
  get fields(): JsonObject {
    for (const name in this.#shared) this.#own(name);
    if (this.#hasHoles) this.fields = withoutHoles(this.#fields);
    return this.#fields;
  }

  set fields(fields: JsonObject) {
    this.#fields = fields;
    this.#hasHoles = false;
  }

  /** `fields` for who changes nothing, and passes over members that are `undefined`: they aren't there. */
  get rawFields(): Readonly<JsonObject> {
    return this.#fields;
  }

  /** ms since 1970-01-01 UTC. */
  get timeMs(): number {
    const time = this.#fields[TIMESTAMP];
    return time instanceof Timestamp ? time.ms : 0;
  }

  /** Returns the value, or undefined if there is none. */
  get(reference: FieldReference): unknown {
    const { path, inMetadata } = reference;
    if (path.length === 1 && !inMetadata) return this.#field(path[0]!);
    let at: unknown = inMetadata ? this.metadata : this.#fields;
    for (let depth = 0; depth < path.length; depth++) {
      if (at === null || typeof at !== "object") return undefined;
      at = member(at, path[depth]!);
    }
    const isOwn = inMetadata || at === null || typeof at !== "object" || !this.#own(path[0]!);
    return isOwn ? at : this.get(reference);
  }

  /** Returns true if there is a value, null too. */
  has(reference: FieldReference): boolean {
    return this.get(reference) !== undefined;
  }

  /** Sets a value, creating missing objects. Throws FieldConflict if a plain value is in the way. */
  set(reference: FieldReference, value: unknown): void {
    const { path, inMetadata } = reference;
    if (path.length === 0) {
      this.metadata = isHash(value) ? value : {};
      return;
    }
    if (!inMetadata && path.length === 1) {
      if (path[0] === TIMESTAMP && !(value instanceof Timestamp)) this.#coerceTime(value, this.timeMs);
      else put(this.#fields, path[0]!, value);
      return;
    }
    if (!inMetadata) this.#own(path[0]!);
    let at: object = inMetadata ? this.metadata : this.#fields;
    for (let depth = 0; depth < path.length - 1; depth++) {
      const next = member(at, path[depth]!);
      if (next !== null && typeof next === "object" && !isScalar(next)) {
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

  /** Like `set`, for what is known of a sender; false if a plain value of its own is in the way, which stays. */
  trySet(reference: FieldReference, value: unknown): boolean {
    try {
      this.set(reference, value);
      return true;
    } catch (error) {
      if (error instanceof FieldConflict) return false;
      throw error;
    }
  }

  /** Removes a value and returns it; undefined if there was none. */
  remove(reference: FieldReference): unknown {
    const { path } = reference;
    if (path.length === 0) {
      const before = this.metadata;
      this.metadata = {};
      return before;
    }
    if (path.length === 1 && !reference.inMetadata) return this.#removeField(path[0]!);
    if (!reference.inMetadata) this.#own(path[0]!);
    let at: unknown = reference.inMetadata ? this.metadata : this.#fields;
    for (let depth = 0; depth < path.length - 1; depth++) {
      if (at === null || typeof at !== "object") return undefined;
      at = member(at, path[depth]!);
    }
    if (at === null || typeof at !== "object") return undefined;
    return take(at, path.at(-1)!);
  }

  /** Adds a tag unless the event has it. A `tags` that is neither text nor a list goes under `_tags`. */
  tag(name: string): void {
    const fields = this.#fields;
    const tags = fields[TAGS];
    if (Array.isArray(tags)) {
      if (!tags.includes(name)) tags.push(name);
    } else if (typeof tags === "string" && tags !== "") {
      if (tags !== name) fields[TAGS] = [tags, name];
    } else {
      if (tags !== undefined && tags !== null && tags !== "") fields[TAGS_FAILURE] = [tags];
      fields[TAGS] = [name];
    }
  }

  /** Adds tags even where the event has them, as a filter that is run twice shows. */
  addTags(names: readonly string[]): void {
    const tags = this.#fields[TAGS];
    const before: unknown[] = Array.isArray(tags) ? tags : tags === undefined || tags === null ? [] : [tags];
    this.#fields[TAGS] = [...before, ...names];
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
    const fields = this.#fields;
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

  /** Fast path of `get`: nothing but functions and `__proto__` is there without being somebody's own. */
  #field(name: string): unknown {
    const value = this.#fields[name];
    if (typeof value !== "object" && typeof value !== "function") return value;
    if (!Object.hasOwn(this.#fields, name)) return undefined;
    if (this.#shared === undefined) return value;
    this.#own(name);
    return this.#fields[name];
  }

  /** Makes a member this event's own; returns true if it wasn't. */
  #own(name: string): boolean {
    const shared = this.#shared?.[name];
    if (shared === undefined || this.#fields[name] !== shared) return false;
    this.#fields[name] = copyValue(shared);
    return typeof shared === "object";
  }

  #removeField(name: string): unknown {
    const value = this.#field(name);
    if (value === undefined) return undefined;
    put(this.#fields, name, undefined);
    this.#hasHoles = true;
    return value;
  }

  #displaceTags(tags: unknown): void {
    this.#fields[TAGS_FAILURE] = [tags];
    this.#fields[TAGS] = [TAGS_FAILURE_TAG];
  }

  #coerceTime(value: unknown, fallbackMs: number): void {
    const timeMs = typeof value === "string" ? isoMs(value) : undefined;
    this.#fields[TIMESTAMP] = new Timestamp(timeMs ?? fallbackMs);
    if (timeMs !== undefined) return;
    this.#fields["_@timestamp"] = value;
    this.tag(TIMESTAMP_FAILURE_TAG);
  }
}

/** Returns a deep copy of a field's value; times and raw numbers are shared, as they never change. */
export function copyValue(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(copyValue);
  if (isScalar(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) put(copy, key, copyValue((value as JsonObject)[key]));
  return copy;
}

/** Returns true for a value that holds further fields: no list, no time, no raw number. */
export function isHash(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !isScalar(value);
}

/** An object that is one value: a time, a raw number, a number of a script. */
function isScalar(value: object): boolean {
  return (
    value instanceof Timestamp ||
    isRawJson(value) ||
    // A field of this name isn't a function.
    typeof (value as { toJSON?: unknown }).toJSON === "function"
  );
}

/** Returns a value as text for messages and formats; lists comma-separated, objects as JSON. */
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

/** A text, a list of texts, or null. */
function areTags(value: unknown): boolean {
  if (typeof value === "string" || value === null) return true;
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** A date without a time is its midnight. */
const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;

function isoMs(text: string): number | undefined {
  if (text.length > 64) return undefined;
  const bytes = ENCODER.encode(DATE_ONLY.test(text) ? `${text}T00:00:00` : text);
  return ISO.read(bytes, 0, bytes.length) && ISO.end === bytes.length ? ISO.timeMs : undefined;
}

function describe(value: unknown): string {
  if (value instanceof Timestamp) return "a time";
  return isRawJson(value) ? "a number" : `a ${typeof value}`;
}
