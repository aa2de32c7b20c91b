/** A document in an ingest pipeline: its source, its target, and paths and templates over both. */

import { Decimal, isRawNumber } from "#hub/scripts/values/values.ts";
import { isHash, valueText } from "#proto/event.ts";
import { put } from "#proto/event-members.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Names that stand for where a document is to go, and on what condition. */
export const DESTINATION = ["_index", "_type", "_id", "_routing", "_version", "_version_type"] as const;

/** Where a document is to go, as texts. */
export type Destination = Partial<Record<(typeof DESTINATION)[number], string>>;

/** Classes that the 6.5 server names in the answer to a document that a processor can't work on. */
export type FaultClass =
  | "java.lang.IllegalArgumentException"
  | "java.lang.IllegalStateException"
  | "ElasticsearchParseException"
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
  /** Name of its pipeline, where another one called that. */
  pipeline: string | undefined;

  constructor(message: string, options: ProcessorFaultOptions = {}) {
    super(message, options);
    this.script = options.script;
    this.javaClass = options.javaClass ?? "java.lang.IllegalArgumentException";
  }
}

/** Pipelines call one another without end. */
export class PipelineCycle extends ProcessorFault {
  constructor(id: string) {
    super(`Cycle detected for pipeline: ${id}`, { javaClass: "java.lang.IllegalStateException" });
  }
}

/** Why a document failed. Without `fault` no processor did. */
export interface IngestFailure {
  readonly message: string;
  readonly fault?: {
    readonly processorType: string;
    readonly processorTag?: string;
    readonly javaClass: FaultClass;
    /** Of a script: script_stack, script, lang, caused_by. */
    readonly script?: JsonObject;
  };
}

/** Returns why a document failed, for the answer to its sender. */
export function failureOf(error: Error): IngestFailure {
  const { message } = error;
  if (!(error instanceof ProcessorFault) || error.processor === undefined) return { message };
  const { type, tag } = error.processor;
  const fault = {
    processorType: type,
    javaClass: error.javaClass,
    ...(tag !== undefined && { processorTag: tag }),
    ...(error.script !== undefined && { script: error.script }),
  };
  return { message, fault };
}

/** The result of a processor for a document; `entered`: those of another pipeline follow. */
export type StepStatus = "success" | "skipped" | "dropped" | "error" | "error_ignored" | "entered";

/** Called for each processor that a document passed. */
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
  /** Available to templates as `_ingest`. */
  ingest: JsonObject;
  /** True: nothing is to be written. */
  dropped = false;
  /** True: what is left of the pipeline under way isn't run. */
  isTerminated = false;
  /** True: the pipelines under way are left, as the document goes through those of another index. */
  isRerouted = false;
  /** Of a simulation that shows each step. */
  listener: StepListener | undefined;

  /** Takes `source` over. `nowMs`: ms since 1970-01-01 UTC. */
  constructor(source: JsonObject, destination: Destination, nowMs: number) {
    this.source = source;
    this.destination = destination;
    this.ingest = { timestamp: new Date(nowMs).toISOString() };
  }

  /** Sends the document to another index, through its pipelines. */
  reroute(index: string): void {
    this.set("_index", index);
    this.isRerouted = true;
  }

  /** Returns what is at `a.b.0`, or undefined. */
  get(path: string): unknown {
    const name = destinationOf(path);
    if (name !== undefined) return this.destination[name];
    if (path === "_ingest") return this.ingest;
    let at: unknown = this.#rootOf(path);
    for (const key of keysOf(path)) {
      if (Array.isArray(at)) at = /^\d{1,9}$/.test(key) ? (at as unknown[])[Number(key)] : undefined;
      else if (isHash(at)) at = Object.hasOwn(at, key) ? at[key] : undefined;
      else return undefined;
    }
    return at;
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  /** Returns what is at `a.b.0`. Throws ProcessorFault if there is nothing. */
  require(path: string): unknown {
    const found = this.get(path);
    if (found !== undefined) return found;
    let at: unknown = this.#rootOf(path);
    for (const key of keysOf(path)) at = memberAt(at, key, path);
    return at;
  }

  /** Sets what is at a path, creating missing objects. Throws ProcessorFault if a plain value or null is in the way. */
  set(path: string, value: unknown): void {
    const name = destinationOf(path);
    if (name !== undefined) {
      this.destination = { ...this.destination, [name]: valueText(value) };
      return;
    }
    const keys = keysOf(path);
    let at: unknown = this.#rootOf(path);
    for (const key of keys.slice(0, -1)) {
      if (isHash(at) && !Object.hasOwn(at, key)) put(at, key, {});
      at = memberAt(at, key, path);
    }
    const last = keys.at(-1)!;
    if (Array.isArray(at)) at[placeAt(at, last, path)] = value;
    else if (isHash(at)) put(at, last, value);
    else
      throw new ProcessorFault(
        `cannot set [${last}] with ${at === null ? "null parent" : `parent object of type [${typeNameOf(at)}]`} as part of path [${path}]`,
      );
  }

  /** Removes what is at a path and returns it. Throws ProcessorFault if there is nothing. */
  remove(path: string): unknown {
    const name = destinationOf(path);
    if (name !== undefined) {
      const { [name]: before, ...rest } = this.destination;
      if (before === undefined) throw absent(path, path);
      this.destination = rest;
      return before;
    }
    const keys = keysOf(path);
    let at: unknown = this.#rootOf(path);
    for (const key of keys.slice(0, -1)) at = memberAt(at, key, path);
    const last = keys.at(-1)!;
    if (Array.isArray(at)) return at.splice(placeAt(at, last, path), 1)[0];
    if (!isHash(at))
      throw new ProcessorFault(
        `cannot remove [${last}] from ${at === null ? "null" : `object of type [${typeNameOf(at)}]`} as part of path [${path}]`,
      );
    const before = memberAt(at, last, path);
    delete at[last];
    return before;
  }

  #rootOf(path: string): JsonObject {
    return path.startsWith("_ingest.") ? this.ingest : this.source;
  }
}

function destinationOf(path: string): (typeof DESTINATION)[number] | undefined {
  return DESTINATION.find((name) => name === path);
}

/** Paths whose keys are kept; they come from definitions, and from documents only through templates. */
const MAX_KNOWN_PATHS = 4_096;
/** Longer ones aren't kept: a document's text may be megabytes. */
const MAX_KNOWN_LENGTH = 256;
const knownPaths = new Map<string, readonly string[]>();

/** Returns the keys of a path; empty ones at its end count as none, as in the original. Throws ProcessorFault. */
function keysOf(path: string): readonly string[] {
  const known = knownPaths.get(path);
  if (known !== undefined) return known;
  if (path === "") throw new ProcessorFault("path cannot be null nor empty");
  const keys = path.replace(/^(?:_source|_ingest)\./, "").split(".");
  while (keys.length > 0 && keys.at(-1) === "") keys.pop();
  if (keys.length === 0) throw new ProcessorFault(`path [${path}] is not valid`);
  if (path.length > MAX_KNOWN_LENGTH) return keys;
  if (knownPaths.size >= MAX_KNOWN_PATHS) knownPaths.clear();
  knownPaths.set(path, keys);
  return keys;
}

/** Returns a member of an object or a list along a path. Throws ProcessorFault if there is none. */
function memberAt(at: unknown, key: string, path: string): unknown {
  if (Array.isArray(at)) return (at as unknown[])[placeAt(at, key, path)];
  if (isHash(at)) {
    if (Object.hasOwn(at, key)) return at[key];
    throw absent(key, path);
  }
  const holder = at === null ? "null" : `object of type [${typeNameOf(at)}]`;
  throw new ProcessorFault(`cannot resolve [${key}] from ${holder} as part of path [${path}]`);
}

/** Returns an index of a list. Throws ProcessorFault if the list has none of that name. */
function placeAt(list: readonly unknown[], key: string, path: string): number {
  if (!/^[-+]?\d{1,9}$/.test(key))
    throw new ProcessorFault(
      `[${key}] is not an integer, cannot be used as an index as part of path [${path}]`,
    );
  const position = Number(key);
  if (position >= 0 && position < list.length) return position;
  throw new ProcessorFault(
    `[${position}] is out of bounds for array with length [${list.length}] as part of path [${path}]`,
  );
}

function absent(key: string, path: string): ProcessorFault {
  return new ProcessorFault(`field [${key}] not present as part of path [${path}]`);
}

/** The names that clients know from the original's messages. */
export function typeNameOf(value: unknown): string {
  if (Array.isArray(value)) return "java.util.ArrayList";
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) return "java.lang.Double";
    return Math.abs(value) < 2 ** 31 ? "java.lang.Integer" : "java.lang.Long";
  }
  if (isRawNumber(value)) return "java.lang.Long";
  if (value instanceof Decimal) return value.isFloat ? "java.lang.Float" : "java.lang.Double";
  if (typeof value === "boolean") return "java.lang.Boolean";
  return typeof value === "string" ? "java.lang.String" : "java.util.HashMap";
}
