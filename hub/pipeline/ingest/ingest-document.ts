/** A document in an ingest pipeline: its source, its target, and paths and templates over both. */

import { copyValue, Event, isHash, valueText } from "#proto/event.ts";
import { put } from "#proto/event-members.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Names that stand for where a document is to go, and on what condition. */
export const DESTINATION = ["_index", "_type", "_id", "_routing", "_version", "_version_type"] as const;

/** Where a document is to go, as texts. */
export type Destination = Partial<Record<(typeof DESTINATION)[number], string>>;

/** Classes that the 6.5 server names in the answer to a document that a processor can't work on. */
export type FaultClass =
  | "java.lang.IllegalArgumentException"
  | "java.lang.IllegalStateException"
  | "org.elasticsearch.ingest.common.FailProcessorException";

interface ProcessorFaultOptions {
  readonly cause?: unknown;
  readonly javaClass?: FaultClass;
  readonly script?: JsonObject;
}

/** A processor can't do its work on this document. */
export class ProcessorFault extends Error {
  readonly javaClass: FaultClass;
  /** What clients get of a script that failed: script_stack, script, lang, caused_by. */
  readonly script: JsonObject | undefined;
  /** The processor that failed; set where it is run. */
  processor: { readonly type: string; readonly tag: string | undefined } | undefined;

  constructor(message: string, options: ProcessorFaultOptions = {}) {
    super(message, options);
    this.script = options.script;
    this.javaClass = options.javaClass ?? "java.lang.IllegalArgumentException";
  }
}

/** What became of a document at a processor; `entered`: those of another pipeline follow. */
export type StepStatus = "success" | "skipped" | "dropped" | "error" | "error_ignored" | "entered";

/** Hears of each processor that a document met. */
export type StepListener = (
  step: {
    readonly type: string;
    readonly tag: string | undefined;
    readonly description: string | undefined;
    readonly conditionText: string | undefined;
  },
  status: StepStatus,
  fault: Error | undefined,
) => void;

export class IngestDocument {
  destination: Destination;
  source: JsonObject;
  /** Told to templates as `_ingest`. */
  ingest: JsonObject;
  /** True: nothing is to be written. */
  dropped = false;
  /** Of a simulation that shows each step. */
  listener: StepListener | undefined;

  /** Takes `source` over. `nowMs`: ms since 1970-01-01 UTC. */
  constructor(source: JsonObject, destination: Destination, nowMs: number) {
    this.source = source;
    this.destination = destination;
    this.ingest = { timestamp: new Date(nowMs).toISOString() };
  }

  /** Returns what stands at `a.b.0`, or undefined. */
  get(path: string): unknown {
    const name = destinationOf(path);
    if (name !== undefined) return this.destination[name];
    if (path === "_ingest") return this.ingest;
    return lookUp(this.#rootOf(path), keysOf(path));
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  /** Sets what stands at a path, making objects on the way. Throws ProcessorFault if a plain value is in the way. */
  set(path: string, value: unknown): void {
    const name = destinationOf(path);
    if (name !== undefined) {
      this.destination = { ...this.destination, [name]: valueText(value) };
      return;
    }
    if (path === "@timestamp") {
      // An event would make a time of it; a document keeps what it is given.
      this.source[path] = value;
      return;
    }
    if (hasBrackets(path)) {
      setKeys(this.#rootOf(path), keysOf(path), path, value);
      return;
    }
    try {
      this.#event(path).set(referenceOf(path), value);
    } catch (error) {
      throw new ProcessorFault(`cannot set [${path}]: ${(error as Error).message}`);
    }
  }

  /** Removes what stands at a path. Throws ProcessorFault if there is nothing. */
  remove(path: string): unknown {
    const name = destinationOf(path);
    if (name !== undefined) {
      const { [name]: before, ...rest } = this.destination;
      this.destination = rest;
      return before;
    }
    const before = this.get(path);
    if (before === undefined)
      throw new ProcessorFault(`field [${path}] not present as part of path [${path}]`);
    if (hasBrackets(path)) {
      const keys = keysOf(path);
      const holder = lookUp(this.#rootOf(path), keys.slice(0, -1));
      if (isHash(holder)) delete holder[keys.at(-1)!];
      return before;
    }
    const event = this.#event(path);
    event.remove(referenceOf(path));
    // An event may continue with another object.
    if (path.startsWith("_ingest.")) this.ingest = event.fields;
    else this.source = event.fields;
    return before;
  }

  /** Returns a copy that shares nothing that changes. */
  clone(): IngestDocument {
    const copy = new IngestDocument(copyValue(this.source) as JsonObject, { ...this.destination }, 0);
    copy.dropped = this.dropped;
    Object.assign(copy.ingest, this.ingest);
    return copy;
  }

  /** What a path leads into, seen as an event for the sake of its paths. */
  #event(path: string): Event {
    const event = new Event({}, 0);
    event.fields = this.#rootOf(path);
    return event;
  }

  #rootOf(path: string): JsonObject {
    return path.startsWith("_ingest.") ? this.ingest : this.source;
  }
}

function destinationOf(path: string): (typeof DESTINATION)[number] | undefined {
  return DESTINATION.find((name) => name === path);
}

function keysOf(path: string): string[] {
  return path.replace(/^(?:_source|_ingest)\./, "").split(".");
}

function referenceOf(path: string): ReturnType<typeof fieldReference> {
  const keys = keysOf(path);
  if (keys.some((key) => key === "" || /[[\]]/.test(key)) || keys[0] === "@metadata")
    throw new ProcessorFault(`path [${path}] is not valid`);
  return fieldReference(keys.map((key) => `[${key}]`).join(""));
}

/** Keys with brackets can't be written as a reference of an event. */
function hasBrackets(path: string): boolean {
  return /[[\]]/.test(path);
}

/** Sets what stands behind keys, making objects on the way. Throws ProcessorFault if a plain value is in the way. */
function setKeys(root: JsonObject, keys: readonly string[], path: string, value: unknown): void {
  const last = keys.at(-1);
  if (last === undefined || keys.includes("")) throw new ProcessorFault(`path [${path}] is not valid`);
  let at = root;
  for (const key of keys.slice(0, -1)) {
    if (!Object.hasOwn(at, key)) put(at, key, {});
    const next = at[key];
    if (!isHash(next)) throw new ProcessorFault(`cannot set [${path}]: [${key}] is no object`);
    at = next;
  }
  put(at, last, value);
}

function lookUp(from: unknown, keys: readonly string[]): unknown {
  let at = from;
  for (const key of keys) {
    if (Array.isArray(at)) at = /^\d{1,9}$/.test(key) ? (at as unknown[])[Number(key)] : undefined;
    else if (isHash(at)) at = Object.hasOwn(at, key) ? at[key] : undefined;
    else return undefined;
  }
  return at;
}
