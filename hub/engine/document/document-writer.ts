/**
 * Puts the fields of a document into a buffer: walks its bytes along the plan of the mapping. A value that doesn't fit
 * fails the document, or, leniently, is left out and its field named in `_ignored`; the rest of the document is indexed.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { toBytes } from "../bytes.ts";
import * as json from "../json/scanner.ts";
import type { Field } from "../mapping/field.ts";
import type { Mapping } from "../mapping/mapping.ts";
import { MAX_TERM_BYTES } from "../segment/dictionary-writer.ts";
import { IGNORED_FIELD, ROUTING_FIELD } from "../segment/reader.ts";
import type { SegmentBuffer } from "../segment/segment-buffer.ts";
import { parseIp } from "./ip.ts";
import { metadataField } from "./metadata-field.ts";
import { type Leaf, makePlan, type PlanNode } from "./plan.ts";
import {
  checkedPoint,
  parseBoolean,
  parseDate,
  parseDouble,
  parsePoint,
  parseWhole,
  ValueError,
} from "./values.ts";

/** Fields named in `_ignored` of one document, at most. */
const MAX_IGNORED = 64;

const IGNORED = metadataField(IGNORED_FIELD);
const ROUTING = metadataField(ROUTING_FIELD);

/** Names that a document can't use at its root. */
const METADATA = new Set([
  "_id",
  "_index",
  "_type",
  "_source",
  "_routing",
  "_ignored",
  "_field_names",
  "_seq_no",
  "_version",
]);

/** Writes documents into one buffer. */
export class DocumentWriter {
  readonly #buffer: SegmentBuffer;
  readonly #scanner = new json.JsonScanner();
  #analysis: Analysis;
  #plan: PlanNode;
  #doc = 0;
  #lenient = false;
  readonly #ignored = new Set<string>();

  constructor(buffer: SegmentBuffer, mapping: Mapping) {
    this.#buffer = buffer;
    this.#analysis = mapping.analysis;
    this.#plan = makePlan(mapping, buffer);
  }

  /** Goes on with another mapping. */
  setMapping(mapping: Mapping): void {
    this.#analysis = mapping.analysis;
    this.#plan = makePlan(mapping, this.#buffer);
  }

  /**
   * Indexes `source` (a JSON object in UTF-8) as document `doc`, which must be the buffer's last one.
   * Throws mapping_parse or mapping_strict; the document is half indexed then and must be killed.
   */
  write(doc: number, source: Uint8Array, routing: string, lenient: boolean): void {
    this.#doc = doc;
    this.#lenient = lenient;
    this.#ignored.clear();
    this.#scanner.reset(source);
    if (this.#scanner.value() !== json.OBJECT) throw new AppError("mapping_parse", "failed to parse");
    this.#object(this.#plan);
    this.#scanner.finish();
    if (routing !== "") this.#metadata(ROUTING, routing);
    for (const path of this.#ignored) this.#metadata(IGNORED, path);
  }

  #metadata(field: Field, value: string): void {
    const target = this.#buffer.fieldBuffer(field);
    const bytes = toBytes(value);
    if (target !== undefined) this.#buffer.addKeyword(target, this.#doc, bytes, 0, bytes.length);
  }

  #object(node: PlanNode): void {
    const scanner = this.#scanner;
    for (let first = true; scanner.key(first); first = false) {
      const child = scanner.escaped
        ? undefined
        : node.children.get(scanner.bytes, scanner.start, scanner.stop);
      if (child !== undefined) this.#value(child, scanner.value());
      else this.#unknownName(node, scanner.text());
    }
  }

  /** Slow path: a dotted, escaped or unknown name. */
  #unknownName(node: PlanNode, name: string): void {
    const scanner = this.#scanner;
    if (node.path === "" && METADATA.has(name)) {
      const message = `Field [${name}] is a metadata field and cannot be added inside a document. Use the index API request parameters.`;
      this.#fail(name, new AppError("mapping_parse", message));
      return scanner.skip(scanner.value());
    }
    let target: PlanNode | undefined = node;
    let dynamic = node.dynamic;
    for (const part of name.split(".")) {
      if (target !== undefined) dynamic = target.dynamic;
      target = target?.leaf === undefined ? target?.byName.get(part) : undefined;
    }
    const kind = scanner.value();
    if (target !== undefined) return this.#value(target, kind);
    scanner.skip(kind);
    if (kind === json.NULL || dynamic === "false") return;
    const path = node.path === "" ? name : `${node.path}.${name}`;
    if (dynamic === "strict") this.#fail(path, strictError(name, node.path));
    else this.#ignore(path);
  }

  #value(node: PlanNode, kind: number): void {
    const { leaf } = node;
    if (leaf !== undefined) return this.#leafValue(leaf, kind);
    if (!node.enabled) return this.#scanner.skip(kind);
    if (kind === json.OBJECT) return this.#object(node);
    if (kind === json.ARRAY) {
      for (let first = true; this.#scanner.element(first); first = false)
        this.#value(node, this.#scanner.value());
    } else if (kind !== json.NULL) {
      const message = `object mapping for [${node.path}] tried to parse field [${node.path}] as object, but found a concrete value`;
      this.#fail(node.path, new AppError("mapping_parse", message));
    }
  }

  #leafValue(leaf: Leaf, kind: number): void {
    const scanner = this.#scanner;
    if (leaf.field.type === "geo_point") return this.#guard(leaf, () => this.#point(leaf, kind));
    if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) this.#leafValue(leaf, scanner.value());
      return;
    }
    if (kind === json.OBJECT) {
      scanner.skip(kind);
      this.#fail(
        leaf.field.path,
        valueError(leaf.field, new ValueError("Can't get text on a START_OBJECT", "illegal_state_exception")),
      );
      return;
    }
    if (kind === json.NULL) return this.#nullValue(leaf);
    this.#feed(leaf, kind);
  }

  /** Gives the value at hand to a field, its multi-fields and the fields it is copied to. */
  #feed(leaf: Leaf, kind: number): void {
    this.#scalar(leaf, kind);
    for (const child of leaf.multiFields) this.#scalar(child, kind);
    for (const copy of leaf.copies) {
      this.#scalar(copy, kind);
      for (const child of copy.multiFields) this.#scalar(child, kind);
    }
  }

  #nullValue(leaf: Leaf): void {
    const { nullValue } = leaf.field;
    if (nullValue === undefined) return;
    const stands = typeof nullValue === "string" ? JSON.stringify(nullValue) : String(nullValue);
    const { bytes, at, end } = this.#scanner;
    const inner = toBytes(stands);
    // The value is read as if it stood in the document.
    this.#scanner.bytes = inner;
    this.#scanner.at = 0;
    this.#scanner.end = inner.length;
    try {
      this.#feed(leaf, this.#scanner.value());
    } finally {
      this.#scanner.bytes = bytes;
      this.#scanner.at = at;
      this.#scanner.end = end;
    }
  }

  #scalar(leaf: Leaf, kind: number): void {
    if (leaf.buffer === undefined) return;
    try {
      this.#index(leaf, kind);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.#refuse(leaf.field, error);
    }
  }

  #index(leaf: Leaf, kind: number): void {
    const { field } = leaf;
    const buffer = leaf.buffer!;
    const doc = this.#doc;
    switch (field.type) {
      case "text":
        return this.#text(leaf, kind);
      case "keyword":
        return this.#keyword(leaf, kind);
      case "date":
        return buffer.addNumber(doc, parseDate(field, this.#scalarText(kind)));
      case "boolean":
        if (kind === json.NUMBER)
          throw new ValueError(
            `Failed to parse value [${this.#scalarText(kind)}] as only [true] or [false] are allowed.`,
          );
        return buffer.addNumber(doc, parseBoolean(this.#scalarText(kind)));
      case "ip": {
        const address = parseIp(this.#scalarText(kind));
        if (address === null)
          throw new ValueError(`'${this.#scalarText(kind)}' is not an IP string literal.`);
        return this.#buffer.addKeyword(buffer, doc, address, 0, address.length);
      }
      case "double":
      case "float":
      case "half_float":
      case "scaled_float":
        return buffer.addNumber(doc, parseDouble(field, this.#numberText(kind), kind === json.STRING));
      case "binary":
        return;
      case "long": {
        const short = kind === json.NUMBER ? this.#scanner.wholeNumber() : Number.NaN;
        if (!Number.isNaN(short)) return buffer.addNumber(doc, short);
        return this.#wholeNumber(leaf, kind);
      }
      default:
        return this.#wholeNumber(leaf, kind);
    }
  }

  #wholeNumber({ field, buffer }: Leaf, kind: number): void {
    const number = parseWhole(field, this.#numberText(kind), kind === json.STRING);
    if (typeof number === "bigint") buffer!.addExact(this.#doc, number);
    else buffer!.addNumber(this.#doc, number);
  }

  #text(leaf: Leaf, kind: number): void {
    if (!leaf.field.index) return;
    const scanner = this.#scanner;
    const analyzer = leaf.analyzer!;
    if (
      analyzer.isStandard &&
      scanner.ascii &&
      !scanner.escaped &&
      (kind === json.STRING || kind === json.NUMBER)
    ) {
      return this.#buffer.addAsciiText(leaf.buffer!, this.#doc, scanner.bytes, scanner.start, scanner.stop);
    }
    const text = this.#scalarText(kind);
    if (analyzer.isStandard && scanner.ascii) {
      const bytes = toBytes(text);
      // An escape may have stood for a character beyond ASCII.
      if (bytes.length === text.length) {
        return this.#buffer.addAsciiText(leaf.buffer!, this.#doc, bytes, 0, bytes.length);
      }
    }
    this.#buffer.addText(leaf.buffer!, this.#doc, text, analyzer);
  }

  #keyword(leaf: Leaf, kind: number): void {
    const { field } = leaf;
    const scanner = this.#scanner;
    if (kind === json.STRING && !scanner.escaped && field.normalizer === undefined) {
      const length = scanner.stop - scanner.start;
      if (length <= field.ignoreAbove) {
        return this.#addKeyword(leaf, scanner.bytes, scanner.start, scanner.stop);
      }
    }
    let text = this.#scalarText(kind);
    if (text.length > field.ignoreAbove) return;
    if (field.normalizer !== undefined) text = this.#analysis.normalize(field.normalizer, text);
    const bytes = toBytes(text);
    this.#addKeyword(leaf, bytes, 0, bytes.length);
  }

  #addKeyword(leaf: Leaf, bytes: Uint8Array, from: number, to: number): void {
    if (to - from > MAX_TERM_BYTES) {
      throw new ValueError(
        `Document contains at least one immense term in field="${leaf.field.path}" (whose UTF8 encoding is longer than the max length ${MAX_TERM_BYTES})`,
      );
    }
    this.#buffer.addKeyword(leaf.buffer!, this.#doc, bytes, from, to);
  }

  #scalarText(kind: number): string {
    if (kind === json.TRUE) return "true";
    if (kind === json.FALSE) return "false";
    return this.#scanner.text();
  }

  #numberText(kind: number): string {
    if (kind === json.NUMBER || kind === json.STRING) return this.#scanner.text();
    throw new ValueError(
      `Current token (VALUE_${kind === json.TRUE ? "TRUE" : "FALSE"}) not numeric, can not use numeric value accessors`,
      "json_parse_exception",
    );
  }

  /** A point or an array of points; two numbers in an array are one point. */
  #point(leaf: Leaf, kind: number): void {
    const scanner = this.#scanner;
    if (kind === json.NULL || leaf.buffer === undefined) return scanner.skip(kind);
    if (kind === json.STRING) {
      const { latitude, longitude } = parsePoint(leaf.field, scanner.text());
      leaf.buffer.addPoint(this.#doc, latitude, longitude);
    } else if (kind === json.OBJECT) {
      this.#pointObject(leaf);
    } else if (kind === json.ARRAY) {
      this.#pointArray(leaf);
    } else {
      throw new ValueError("geo_point expected", "parse_exception");
    }
  }

  #pointObject(leaf: Leaf): void {
    const scanner = this.#scanner;
    const parts = new Map<string, string>();
    let unknown = "";
    for (let first = true; scanner.key(first); first = false) {
      const name = scanner.text();
      const kind = scanner.value();
      if (kind === json.STRING || kind === json.NUMBER) parts.set(name, scanner.text());
      else scanner.skip(kind);
      if (name !== "lat" && name !== "lon" && name !== "geohash") unknown = name;
    }
    if (unknown !== "")
      throw new ValueError("field must be either [lat], [lon] or [geohash]", "parse_exception");
    const geohash = parts.get("geohash");
    if (geohash === undefined && !parts.has("lat"))
      throw new ValueError("field [lat] missing", "parse_exception");
    if (geohash === undefined && !parts.has("lon"))
      throw new ValueError("field [lon] missing", "parse_exception");
    const point =
      geohash === undefined
        ? checkedPoint(leaf.field, numberOf(parts.get("lat")!), numberOf(parts.get("lon")!))
        : parsePoint(leaf.field, geohash);
    leaf.buffer!.addPoint(this.#doc, point.latitude, point.longitude);
  }

  #pointArray(leaf: Leaf): void {
    const scanner = this.#scanner;
    const numbers: number[] = [];
    let problem: unknown;
    for (let first = true; scanner.element(first); first = false) {
      const kind = scanner.value();
      if (kind === json.NUMBER) {
        numbers.push(Number(scanner.text()));
        continue;
      }
      try {
        this.#point(leaf, kind);
      } catch (error) {
        // The array is read to its end, so that what follows it is found.
        if (!(error instanceof ValueError)) throw error;
        problem ??= error;
      }
    }
    if (problem !== undefined) throw problem as ValueError;
    if (numbers.length === 0) return;
    if (numbers.length < 2 || numbers.length > 3) {
      throw new ValueError("[geo_point] field type does not accept that many values", "parse_exception");
    }
    const { latitude, longitude } = checkedPoint(leaf.field, numbers[1]!, numbers[0]!);
    leaf.buffer!.addPoint(this.#doc, latitude, longitude);
  }

  #guard(leaf: Leaf, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.#refuse(leaf.field, error);
    }
  }

  #refuse(field: Field, error: ValueError): void {
    if (field.ignoreMalformed) this.#ignore(field.path);
    else this.#fail(field.path, valueError(field, error));
  }

  #fail(path: string, error: AppError): void {
    if (!this.#lenient) throw error;
    this.#ignore(path);
  }

  #ignore(path: string): void {
    if (this.#ignored.size < MAX_IGNORED) this.#ignored.add(path);
  }
}

function numberOf(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

function strictError(name: string, parent: string): AppError {
  return new AppError(
    "mapping_strict",
    `mapping set to strict, dynamic introduction of [${name}] within [${parent === "" ? "_doc" : parent}] is not allowed`,
  );
}

function valueError(field: Field, cause: ValueError): AppError {
  return new AppError("mapping_parse", `failed to parse field [${field.path}] of type [${field.type}]`, {
    data: { caused_by: { type: cause.type, reason: cause.message } },
  });
}
