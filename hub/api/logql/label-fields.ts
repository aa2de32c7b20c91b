/** Loki's labels over documents: which fields a label names, and which labels a document has. */

import { isIP } from "node:net";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { isDeeper, isObject, type JsonObject } from "#proto/kit/json.ts";
import type { FieldValues } from "./entry.ts";

/** Labels that senders use, with the equivalent fields of the Elastic Common Schema. */
const ECS: Readonly<Record<string, string>> = {
  service_name: "service.name",
  host: "host.name",
  filename: "log.file.path",
  level: "log.level",
  container: "container.name",
  namespace: "kubernetes.namespace",
  pod: "kubernetes.pod.name",
  dataset: "event.dataset",
};

/** Labels that Loki adds to lines, and the equivalent labels here; a field of that name comes first. */
const EQUIVALENT: ReadonlyMap<string, string> = new Map([["detected_level", "level"]]);

/** Objects whose members are labels under their own names. */
const HOLDERS = ["labels", "fields"];

/** Field types that hold exact values. */
const EXACT =
  /^(?:keyword|constant_keyword|wildcard|ip|boolean|long|integer|short|byte|double|float|half_float|unsigned_long)$/;
/** Field types whose values are useful in a list of labels. */
const LISTED = /^(?:keyword|constant_keyword|wildcard|ip|boolean)$/;

/** The fields that labels name in a set of indices. */
export class LabelFields {
  /** By label: paths in the mapping, e.g. "host.name" or "message.keyword". */
  readonly #fields = new Map<string, Map<string, string>>();
  /** True: the lines of all indices can be searched for their words. */
  readonly hasWords: boolean;
  /** Labels to list. */
  readonly names: readonly string[];

  constructor(indices: readonly IndexInfo[]) {
    const names = new Set<string>();
    this.hasWords = indices.every(({ mapping }) => {
      const message = mapping.resolve("message");
      return (
        message?.type === "text" &&
        message.path === "message" &&
        message.index &&
        mapping.analysis.isStandard(message.analyzer)
      );
    });
    for (const { mapping } of indices)
      for (const field of mapping.fields()) {
        if (!EXACT.test(field.type)) continue;
        for (const label of labelsOfPath(plainPath(field.path))) {
          this.#fields.set(label, (this.#fields.get(label) ?? new Map()).set(field.path, field.type));
          if (LISTED.test(field.type)) names.add(label);
        }
      }
    this.names = [...names].sort();
  }

  /** Returns the fields that a label names; none if no index has one. */
  of(label: string): readonly string[] {
    return label === "_index" ? ["_index"] : [...(this.#typesOf(label)?.keys() ?? [])];
  }

  /** Returns the fields of a label that can hold `value`. */
  holding(label: string, value: string): readonly string[] {
    if (label === "_index") return ["_index"];
    const types = this.#typesOf(label) ?? new Map<string, string>();
    return [...types].filter(([, type]) => canHold(type, value)).map(([path]) => path);
  }

  #typesOf(label: string): ReadonlyMap<string, string> | undefined {
    return this.#fields.get(label) ?? this.#fields.get(EQUIVALENT.get(label) ?? "");
  }
}

function canHold(type: string, value: string): boolean {
  if (type === "ip") return isIP(value.replace(/\/\d+$/, "")) !== 0;
  if (type === "boolean") return value === "true" || value === "false";
  return LISTED.test(type) || (value.trim() !== "" && Number.isFinite(Number(value)));
}

/** A text field's exact values are in its subfield `keyword`. */
function plainPath(path: string): string {
  return path.replace(/\.keyword$/, "");
}

/** Returns the labels that name a path: host and host_name for "host.name", job and labels_job for "labels.job". */
function labelsOfPath(path: string): string[] {
  const labels = [sanitized(path)];
  for (const [label, field] of Object.entries(ECS)) if (field === path) labels.push(label);
  for (const holder of HOLDERS)
    if (path.startsWith(`${holder}.`)) labels.push(sanitized(path.slice(holder.length + 1)));
  return labels;
}

/** Returns a name with `_` in place of characters that label names can't have. */
export function sanitized(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
}

/** Returns the labels of a document's stream: its own, and those from fields of the common schema. */
export function streamLabels(source: JsonObject): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [label, path] of Object.entries(ECS)) {
    const value = valueAt(source, path) ?? (label === "host" ? valueAt(source, "host") : undefined);
    if (value !== undefined) labels.set(label, value);
  }
  for (const holder of HOLDERS) {
    const own = source[holder];
    if (!isObject(own)) continue;
    for (const [name, value] of Object.entries(own))
      if (isPlain(value)) labels.set(sanitized(name), String(value));
  }
  return labels;
}

/**
 * Deeper values of a document are left out of its line: nesting is limited only by a document's length, but recursion
 * by the stack.
 */
const MAX_LINE_DEPTH = 500;

/**
 * Returns a document's line: its message (several values on lines of their own), the original event, or the whole
 * document.
 */
export function lineOf(source: JsonObject): string {
  const { message } = source;
  const texts = Array.isArray(message) ? message.flat(MAX_LINE_DEPTH).filter(isPlain) : [];
  if (texts.length > 0) return texts.join("\n");
  const line = valueAt(source, "message") ?? valueAt(source, "event.original");
  return line ?? JSON.stringify(isDeeper(source, MAX_LINE_DEPTH) ? cutAt(source, MAX_LINE_DEPTH) : source);
}

/** Returns a copy with null in place of deeper values. */
function cutAt(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((inner) => cutAt(inner, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutAt(inner, depth - 1)]));
}

/** Returns the value of a path as text; keys may contain dots. Undefined if there is no plain value. */
export function valueAt(source: JsonObject, path: string): string | undefined {
  const value = source[path];
  if (isPlain(value)) return String(value);
  for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
    const inner = source[path.slice(0, dot)];
    const found = isObject(inner) ? valueAt(inner, path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Maximum number and depth of a document's values that labels can name. */
const MAX_VALUES = 1_000;
const MAX_DEPTH = 16;
const NONE: readonly string[] = [];

/** Returns the function that reads field values by label from a document that isn't indexed yet. */
export function documentFields(source: JsonObject, index: string): FieldValues {
  let values: DocumentValues | undefined;
  return (label) => (label === "_index" ? [index] : (values ??= new DocumentValues(source)).of(label));
}

/** The values of a document, by the labels that name their fields. */
class DocumentValues {
  readonly #byLabel = new Map<string, string[]>();
  #count = 0;

  constructor(source: JsonObject) {
    this.#addMembers(source, "", 0);
  }

  of(label: string): readonly string[] {
    return this.#byLabel.get(label) ?? this.#byLabel.get(EQUIVALENT.get(label) ?? "") ?? NONE;
  }

  #addMembers(source: object, prefix: string, depth: number): void {
    for (const [key, value] of Object.entries(source)) {
      if (this.#count >= MAX_VALUES) return;
      this.#add(value, prefix + key, depth);
    }
  }

  #add(value: unknown, path: string, depth: number): void {
    if (isPlain(value)) {
      this.#count += 1;
      for (const label of labelsOfPath(path)) {
        const known = this.#byLabel.get(label);
        if (known === undefined) this.#byLabel.set(label, [String(value)]);
        else known.push(String(value));
      }
    } else if (depth >= MAX_DEPTH) return;
    else if (Array.isArray(value)) {
      for (const each of value) {
        if (this.#count >= MAX_VALUES) return;
        this.#add(each, path, depth + 1);
      }
    } else if (isObject(value)) this.#addMembers(value, `${path}.`, depth + 1);
  }
}

/** Returns the function that reads a document's field values by label. */
export function fieldReader(fields: LabelFields, source: JsonObject, index: string): FieldValues {
  return (label) => {
    if (label === "_index") return [index];
    const values: string[] = [];
    for (const path of fields.of(label)) {
      addValuesAt(source, plainPath(path), 0, values);
      if (values.length > 0) return values;
    }
    return NONE;
  };
}

/** Adds the plain values of a path; keys may contain dots, and the path may lead through arrays. */
function addValuesAt(source: unknown, path: string, depth: number, into: string[]): void {
  if (depth > MAX_DEPTH || into.length >= MAX_VALUES) return;
  if (Array.isArray(source)) for (const each of source) addValuesAt(each, path, depth + 1, into);
  else if (path === "") {
    if (isPlain(source)) into.push(String(source));
  } else if (isObject(source)) {
    if (Object.hasOwn(source, path)) addValuesAt(source[path], "", depth + 1, into);
    for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
      const key = path.slice(0, dot);
      if (Object.hasOwn(source, key)) addValuesAt(source[key], path.slice(dot + 1), depth + 1, into);
    }
  }
}
