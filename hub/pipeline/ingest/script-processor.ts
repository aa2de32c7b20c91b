/** Scripts of ingest pipelines: the processor `script`, and the condition `if` of any processor. */

import { MAP_METHODS, write } from "#hub/scripts/library/maps.ts";
import { type FindStored, readScript } from "#hub/scripts/script.ts";
import { toJson, withLongs } from "#hub/scripts/values/json.ts";
import { truth } from "#hub/scripts/values/operators.ts";
import { fromJson, type Method, type Methods, ScriptObject } from "#hub/scripts/values/values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { DESTINATION, type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import type { ProcessorKind, ProcessorSettings } from "./processor.ts";

const NAMES = ["params", "ctx"];

/** Decides whether a processor runs on a document. Throws ProcessorFault if the script fails. */
export type Condition = (document: IngestDocument) => boolean;

/** Takes the setting `if`. Throws script_failed if it doesn't compile. */
export function takeCondition(settings: ProcessorSettings, find: FindStored): Condition | undefined {
  const given = settings.take("if");
  if (given === undefined) return undefined;
  const { compiled, params } = readScript(given, NAMES, { find, allowsRegexes: true });
  return (document) => guarded(() => truth(compiled.run([params, new ConditionContext(document)])));
}

/** Runs a script that may change the document: {source | id, lang, params}, or the script's text as `inline`. */
export const script: ProcessorKind = (settings, { findScript }) => {
  const given: JsonObject = {};
  for (const name of ["source", "inline", "id", "lang", "params"]) {
    const value = settings.take(name);
    if (value !== undefined) given[name] = value;
  }
  const { compiled, params } = readScript(given, NAMES, { find: findScript, allowsRegexes: true });
  return (document) =>
    guarded(() => {
      document.source = withLongs(document.source) as JsonObject;
      try {
        compiled.run([params, new DocumentContext(document)]);
      } finally {
        // Also after a fault: processors that handle it continue with what the script has changed.
        const source = toJson(document.source, "raw");
        if (isObject(source)) document.source = source;
      }
    });
};

/** What a script throws is the fault of its processor. */
function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const cause = error.data["caused_by"] as { readonly reason?: string | null } | undefined;
    const script = error.data["script_stack"] === undefined ? undefined : (error.data as JsonObject);
    throw new ProcessorFault(cause?.reason ?? error.message, {
      cause: error,
      ...(script !== undefined && { script }),
    });
  }
}

/** `ctx`: the fields of a document, and where it is to go. */
class DocumentContext extends ScriptObject {
  readonly type = "HashMap";
  readonly methods = METHODS;
  readonly document: IngestDocument;

  constructor(document: IngestDocument) {
    super();
    this.document = document;
  }

  override lookup(key: unknown): unknown {
    const name = String(key);
    if (isDestination(name) || name === "_ingest") return this.document.get(name) ?? null;
    const { source } = this.document;
    return Object.hasOwn(source, name) ? fromJson(source[name]) : null;
  }

  override assign(key: unknown, value: unknown): void {
    const name = String(key);
    if (isDestination(name)) this.document.set(name, toJson(value, "raw"));
    else write(this.document.source, name, value, FREE);
  }

  override isA(name: string): boolean {
    return name === "Map";
  }
}

/** `ctx` of a condition, which leaves the fields as they are: raw numbers are calculated with in copies. */
class ConditionContext extends DocumentContext {
  readonly #copies = new Map<unknown, unknown>();

  override lookup(key: unknown): unknown {
    const value = super.lookup(key);
    if (typeof value !== "object") return value;
    let copy = this.#copies.get(value);
    if (copy === undefined) this.#copies.set(value, (copy = withLongs(value)));
    return copy;
  }
}

/** Assignments cost as much as the expression around them. */
const FREE = { spend: () => undefined };

function isDestination(name: string): boolean {
  return DESTINATION.some((each) => each === name);
}

/** Methods of maps work on the fields; a name of the destination is looked up there. */
const METHODS: Methods = new Map<string, Method>([
  ...[...MAP_METHODS].map(([name, method]): [string, Method] => [
    name,
    (self: DocumentContext, values, context) => method(self.document.source, values, context),
  ]),
  ["get", (self: DocumentContext, [key]) => self.lookup(key)],
  [
    "containsKey",
    (self: DocumentContext, [key]) =>
      self.lookup(key) !== null || Object.hasOwn(self.document.source, String(key)),
  ],
  [
    "put",
    (self: DocumentContext, [key, value]) => {
      const before = self.lookup(key);
      self.assign(key, value);
      return before;
    },
  ],
]);
