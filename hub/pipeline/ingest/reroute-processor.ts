/**
 * `reroute` sends a document to another index or data stream, whose own pipeline it goes through then; the rest of the
 * pipeline under way, and of those that called it, is left out. After the processor of the same name of Elasticsearch 8.8.
 */

import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import type { ProcessorKind, ProcessorSettings } from "./processor.ts";

/** Longest part of a data stream's name, characters. */
const MAX_PART = 100;
/** `{{field}}` or `{{{field}}}`, and nothing else. */
const FIELD_REFERENCE = /^\{\{\s*([^{}]+?)\s*\}\}$|^\{\{\{\s*([^{}]+?)\s*\}\}\}$/;

/** The parts of a data stream's name, `type-dataset-namespace`, and what a part must not contain. */
const PARTS = {
  type: /[\\/*?"<>| ,#:-]/g,
  dataset: /[\\/*?"<>| ,#:-]/g,
  namespace: /[\\/*?"<>| ,#:]/g,
} as const;

type Part = keyof typeof PARTS;
const NAMES = Object.keys(PARTS) as Part[];

/** Returns a part of the name of a document's stream; undefined if the document doesn't have it. */
type PartSource = (document: IngestDocument) => string | undefined;

export const reroute: ProcessorKind = (settings) => {
  const destination = settings.optionalText("destination");
  const given = NAMES.map((name) => settings.take(name));
  if (destination !== undefined) {
    if (given.some((value) => value !== undefined))
      throw settings.fault("destination", "can only be set if type, dataset and namespace are not set");
    return (document) => document.reroute(destination);
  }
  const sources = NAMES.map((name, at) => sourcesOf(settings, name, given[at]));
  return (document) => {
    const current = partsOf(document);
    const parts = NAMES.map((name, at) => firstOf(sources[at]!, document) ?? current[name]);
    document.reroute(parts.join("-"));
    for (const [at, name] of NAMES.entries()) setField(document, `data_stream.${name}`, parts[at]!);
    if (fieldOf(document, "event.dataset") !== undefined) setField(document, "event.dataset", parts[1]!);
  };
};

function firstOf(sources: readonly PartSource[], document: IngestDocument): string | undefined {
  for (const source of sources) {
    const found = source(document);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the sources of a part: texts and references to fields, of which the first that is there counts. */
function sourcesOf(settings: ProcessorSettings, name: Part, given: unknown): PartSource[] {
  const values: unknown[] = Array.isArray(given) ? given : [given];
  const list = given === undefined || values.length === 0 ? [`{{data_stream.${name}}}`] : values;
  return list.map((value) => {
    if (typeof value !== "string") throw settings.mismatch(name, "string", value);
    const [, plain, bare = plain] = FIELD_REFERENCE.exec(value) ?? [];
    if (bare !== undefined) return (document) => sanitized(fieldOf(document, bare), name);
    if (value !== sanitized(value, name))
      throw settings.fault(name, `'${value}' contains disallowed characters`);
    return () => value;
  });
}

/** Returns a value as a part of a name can have it; undefined for what isn't text. */
function sanitized(value: unknown, name: Part): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  return value.toLowerCase().replace(PARTS[name], "_").slice(0, MAX_PART);
}

/** Returns the parts of the name of a document's index. Throws ProcessorFault. */
function partsOf(document: IngestDocument): Record<Part, string> {
  const index = document.destination._index ?? "";
  const [, type, dataset, namespace] = /^([^-]*)-([^-]*)-(.*)$/s.exec(index) ?? [];
  if (type === undefined)
    throw new ProcessorFault(
      `invalid data stream name: [${index}]; must follow naming scheme <type>-<dataset>-<namespace>`,
    );
  return { type, dataset: dataset!, namespace: namespace! };
}

/** Returns a field, which may be one key with dots. */
function fieldOf(document: IngestDocument, path: string): unknown {
  return document.get(path) ?? (Object.hasOwn(document.source, path) ? document.source[path] : undefined);
}

/** Sets a field where the document has it: as one key with dots, or in an object. */
function setField(document: IngestDocument, path: string, value: string): void {
  if (Object.hasOwn(document.source, path)) document.source[path] = value;
  else document.set(path, value);
}
