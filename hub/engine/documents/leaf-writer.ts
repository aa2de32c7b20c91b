/**
 * Puts the values of fields into a buffer, with those of their multi-fields and copies. A value that doesn't fit fails
 * the document or, leniently, is left out and its field recorded.
 */

import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { MAX_TERM_BYTES } from "#hub/engine/dictionary/dictionary-writer.ts";
import * as json from "#hub/engine/json/scanner.ts";
import { type Field, KEY_END } from "#hub/engine/mapping/field.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { readCompletion } from "./completions.ts";
import { immense, readFlattened } from "./flattened.ts";
import type { Leaf } from "./plan.ts";
import { ValueWriter } from "./value-writer.ts";
import { geohashOf, readPoints, ValueError, valueError } from "./values.ts";

/** Fields named in `_ignored` of one document, at most. */
const MAX_IGNORED = 64;

/** Characters of the geohash that a point's multi-fields get: a cell of some centimetres. */
const GEOHASH_LENGTH = 12;

/** Writes the fields' values of one document after another. */
export class LeafWriter {
  lenient = false;
  /** Paths of the document's fields that were left out. */
  readonly ignored = new Set<string>();
  /** Paths of the document's binary fields. */
  readonly binary = new Set<string>();
  readonly #scanner: json.JsonScanner;
  readonly #values: ValueWriter;
  #doc = 0;

  /** `scanner` reads the documents. */
  constructor(scanner: json.JsonScanner) {
    this.#scanner = scanner;
    this.#values = new ValueWriter(scanner);
  }

  /** Begins a document. */
  begin(doc: number): void {
    this.#doc = doc;
    this.ignored.clear();
    this.binary.clear();
  }

  /** Reads the current value and puts it into a field. Throws mapping_parse unless lenient. */
  write(leaf: Leaf, kind: number): void {
    const scanner = this.#scanner;
    if (leaf.field.aliasOf !== undefined) this.#aliasValue(leaf.field, kind);
    else if (leaf.field.type === "geo_point") this.#point(leaf, kind);
    else if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) this.write(leaf, scanner.value());
    } else if (kind === json.OBJECT) this.#leafObject(leaf);
    else if (kind === json.NULL) this.#nullValue(leaf);
    else this.feed(leaf, kind);
  }

  /** Puts the current value into a field, its multi-fields and the fields that it is copied to. */
  feed(leaf: Leaf, kind: number): void {
    this.#scalar(leaf, kind);
    for (const child of leaf.multiFields) this.#scalar(child, kind);
    for (const copy of leaf.copies) {
      this.#scalar(copy, kind);
      for (const child of copy.multiFields) this.#scalar(child, kind);
    }
  }

  /** Passes a value, JSON, to `feed` as if it were in the document. */
  instead(text: string, feed: (kind: number) => void): void {
    const { bytes, at, end } = this.#scanner;
    const inner = toBytes(text);
    this.#scanner.bytes = inner;
    this.#scanner.at = 0;
    this.#scanner.end = inner.length;
    try {
      feed(this.#scanner.value());
    } finally {
      this.#scanner.bytes = bytes;
      this.#scanner.at = at;
      this.#scanner.end = end;
    }
  }

  /** Throws `error` unless lenient. */
  fail(path: string, error: AppError): void {
    if (!this.lenient) throw error;
    this.ignore(path);
  }

  /** Records a field whose value is left out. */
  ignore(path: string): void {
    if (this.ignored.size < MAX_IGNORED) this.ignored.add(path);
  }

  /** New documents with such a value are refused (Mapping.dynamicUpdate); older ones in the log keep it in their source. */
  #aliasValue({ path }: Field, kind: number): void {
    if (holdsValue(this.#scanner, kind)) this.ignore(path);
  }

  #nullValue(leaf: Leaf): void {
    const { nullValue } = leaf.field;
    if (nullValue === undefined) return;
    const text = typeof nullValue === "string" ? JSON.stringify(nullValue) : String(nullValue);
    this.instead(text, (kind) => this.feed(leaf, kind));
  }

  #scalar(leaf: Leaf, kind: number): void {
    if (leaf.field.type === "binary") this.binary.add(leaf.field.path);
    if (leaf.buffer === undefined) return;
    try {
      this.#values.write(leaf, kind, this.#doc);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.#refuse(leaf.field, error);
    }
  }

  #point(leaf: Leaf, kind: number): void {
    const { buffer, field } = leaf;
    if (buffer === undefined || kind === json.NULL) {
      this.#scanner.skip(kind);
      return;
    }
    this.#attempt(field, () =>
      readPoints(this.#scanner, kind, field, ({ latitude, longitude }) => {
        buffer.addPoint(this.#doc, latitude, longitude);
        if (leaf.multiFields.length === 0) return;
        const hash = JSON.stringify(geohashOf(latitude, longitude, GEOHASH_LENGTH));
        for (const child of leaf.multiFields) this.instead(hash, (text) => this.#scalar(child, text));
      }),
    );
  }

  /** Completions may be objects, and flattened fields are; points are read separately. */
  #leafObject(leaf: Leaf): void {
    this.#attempt(leaf.field, () => {
      if (leaf.field.type === "flattened") {
        this.#flattened(leaf);
        return;
      }
      if (leaf.field.type !== "completion") throw noText(this.#scanner);
      readCompletion(this.#scanner, (kind) => this.feed(leaf, kind));
    });
  }

  #flattened({ field, buffer, keyed }: Leaf): void {
    readFlattened(this.#scanner, field, (key, value) => {
      const term = toBytes(key + KEY_END + value);
      if (term.length > MAX_TERM_BYTES) throw immense(field, key, value);
      const start = term.length - Buffer.byteLength(value);
      buffer?.addKeyword(this.#doc, term, start, term.length);
      keyed?.addKeyword(this.#doc, term, 0, term.length);
    });
  }

  #attempt(field: Field, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.#refuse(field, error);
    }
  }

  #refuse(field: Field, error: ValueError): void {
    if (field.ignoreMalformed) this.ignore(field.path);
    else this.fail(field.path, valueError(field, error));
  }
}

/** Reads a value to its end; false if it is null or a list without another value. */
export function holdsValue(scanner: json.JsonScanner, kind: number): boolean {
  if (kind !== json.ARRAY) {
    scanner.skip(kind);
    return kind !== json.NULL;
  }
  let holds = false;
  for (let first = true; scanner.element(first); first = false)
    holds = holdsValue(scanner, scanner.value()) || holds;
  return holds;
}

function noText(scanner: json.JsonScanner): ValueError {
  scanner.skip(json.OBJECT);
  return new ValueError("Can't get text on a START_OBJECT", "illegal_state_exception");
}
