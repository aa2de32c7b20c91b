/**
 * Puts the fields of a document into a buffer: walks its bytes along the plan of the mapping. A value that doesn't fit
 * fails the document, or, leniently, is left out and its field named in `_ignored`; the rest of the document is indexed.
 */

import type { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { formatIp, parseIpBlock } from "#hub/engine/bytes/ip.ts";
import * as json from "#hub/engine/json/scanner.ts";
import { type DocumentRun, wholeRun } from "#hub/engine/kernel/document-run.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { METADATA_NAMES, metadataFieldError } from "#hub/engine/mapping/field-names.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { FIELD_NAMES_FIELD, IGNORED_FIELD, ROUTING_FIELD } from "#hub/engine/segment/snapshot-reader.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { DocumentHost, DocumentIndexer, Indexing } from "./document-indexer.ts";
import { holdsValue, LeafWriter } from "./leaf-writer.ts";
import { type Leaf, makePlan, metadataField, type PlanNode } from "./plan.ts";
import { strictError } from "./values.ts";

const EMPTY_RUN = wholeRun(new Uint8Array(0));

/** Binary values by path; other fields show in an index, a column or norms. */
const FIELD_NAMES = metadataField(FIELD_NAMES_FIELD);
const IGNORED = metadataField(IGNORED_FIELD);
const ROUTING = metadataField(ROUTING_FIELD);

/** The kind of a shape in WKT, as in `POLYGON ((…))` and `POINT EMPTY`. */
const WKT_KIND =
  /^\s*(point|linestring|polygon|multipoint|multilinestring|multipolygon|geometrycollection|bbox)\b/i;

/** Writes documents into one buffer. */
export class DocumentWriter implements DocumentHost {
  readonly #buffer: SegmentBuffer;
  readonly #scanner = new json.JsonScanner();
  readonly #leaves: LeafWriter;
  #plan: PlanNode;
  readonly #indexing: Indexing;
  #indexer: DocumentIndexer;
  /** The current run, the offset in the buffer of its document number 0, why documents of it failed. */
  #run: DocumentRun = EMPTY_RUN;
  #firstDoc = 0;
  #failures: Map<number, unknown> | null = null;
  #doc = 0;
  /** Ranges that the document has. */
  readonly #ranges = new Set<PlanNode>();

  /** `indexing` made the buffer's fields. */
  constructor(buffer: SegmentBuffer, mapping: Mapping, indexing: Indexing) {
    this.#buffer = buffer;
    this.#indexing = indexing;
    this.#leaves = new LeafWriter(this.#scanner);
    this.#plan = makePlan(mapping, buffer);
    this.#indexer = indexing.indexer(buffer.fields, this.#plan);
  }

  /** Continues with another mapping. */
  setMapping(mapping: Mapping): void {
    this.#indexer.release();
    this.#plan = makePlan(mapping, this.#buffer);
    this.#indexer = this.#indexing.indexer(this.#buffer.fields, this.#plan);
  }

  /** Gives the indexer's memory back; nothing can be written afterwards. */
  release(): void {
    this.#indexer.release();
  }

  /**
   * Indexes `source` (a JSON object in UTF-8) as document `doc`, which must be the buffer's last one.
   * Throws mapping_parse or mapping_strict; the document is half indexed then and must be killed.
   */
  write(doc: number, source: Uint8Array, routing: string, lenient: boolean): void {
    const failures = this.writeRun(wholeRun(source), 0, 1, doc, lenient);
    if (failures !== null) throw failures.get(0);
    if (routing === "") return;
    // The indexer calls `begin` only for documents of which it leaves values to the host.
    this.#doc = doc;
    this.#metadata(ROUTING, routing);
  }

  /**
   * Indexes documents `from` to `to` of a run as `doc` and those that follow. Returns why some of them failed, by their
   * number in the run (mapping_parse, mapping_strict, others): they are half indexed then and must be killed; or null.
   */
  writeRun(
    run: DocumentRun,
    from: number,
    to: number,
    doc: number,
    lenient: boolean,
  ): ReadonlyMap<number, unknown> | null {
    this.#run = run;
    this.#firstDoc = doc - from;
    this.#leaves.lenient = lenient;
    this.#failures = null;
    this.#indexer.write(run, from, to, doc, this);
    this.#run = EMPTY_RUN;
    return this.#failures;
  }

  begin(index: number): void {
    this.#doc = this.#firstDoc + index;
    this.#leaves.begin(this.#doc);
    this.#ranges.clear();
    this.#scanner.reset(this.#run.bytes.subarray(this.#run.sourceStart(index), this.#run.sourceStop(index)));
  }

  /** Takes a value that the indexer leaves, with its offset in the document. */
  value(of: Leaf | PlanNode, at: number): void {
    this.#scanner.at = at;
    const kind = this.#scanner.value();
    if ("field" in of) this.#leaves.write(of, kind);
    else this.#value(of, kind);
  }

  refused(): void {
    this.#walk();
  }

  end(): void {
    for (const path of this.#leaves.ignored) this.#metadata(IGNORED, path);
    for (const path of this.#leaves.binary) this.#metadata(FIELD_NAMES, path);
  }

  failed(index: number, error: unknown): void {
    this.#failures ??= new Map();
    this.#failures.set(index, error);
  }

  #walk(): void {
    if (this.#scanner.value() !== json.OBJECT) throw new AppError("mapping_parse", "failed to parse");
    this.#object(this.#plan);
    this.#scanner.finish();
  }

  #metadata(field: Field, value: string): void {
    const bytes = toBytes(value);
    this.#buffer.field(field)?.addKeyword(this.#doc, bytes, 0, bytes.length);
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
    if (node.path === "" && METADATA_NAMES.has(name)) {
      this.#leaves.fail(name, metadataFieldError(name));
      scanner.skip(scanner.value());
      return;
    }
    let target: PlanNode | undefined = node;
    let dynamic = node.dynamic;
    for (const part of name.split(".")) {
      if (target !== undefined) dynamic = target.dynamic;
      target = target?.leaf === undefined ? target?.byName.get(part) : undefined;
    }
    const kind = scanner.value();
    if (target !== undefined) {
      this.#value(target, kind);
      return;
    }
    if (!holdsValue(scanner, kind) || dynamic === "false") return;
    const path = node.path === "" ? name : `${node.path}.${name}`;
    if (dynamic === "strict") this.#leaves.fail(path, strictError(name, node.path));
    else this.#leaves.ignore(path);
  }

  #value(node: PlanNode, kind: number): void {
    const { leaf } = node;
    const scanner = this.#scanner;
    if (leaf !== undefined) this.#leaves.write(leaf, kind);
    else if (!node.enabled) scanner.skip(kind);
    else if ((kind === json.OBJECT || kind === json.STRING) && this.#ranges.has(node))
      this.#secondRange(node, kind);
    else if (kind === json.OBJECT) {
      if (node.isRange) this.#ranges.add(node);
      this.#object(node);
    } else if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) this.#value(node, scanner.value());
    } else if (kind === json.STRING && node.isRange && this.#block(node)) {
      this.#ranges.add(node);
    } else if (kind === json.STRING && node.isShape) {
      this.#shapeText(node);
    } else if (kind !== json.NULL) {
      const message = `object mapping for [${node.path}] tried to parse field [${node.path}] as object, but found a concrete value`;
      this.#leaves.fail(node.path, new AppError("mapping_parse", message));
    }
  }

  /** Takes the current text as a block of addresses (10.0.0.0/8): both bounds of a range; false if it isn't one. */
  #block({ byName }: PlanNode): boolean {
    const [from, to] = [byName.get("gte")?.leaf, byName.get("lte")?.leaf];
    const block = from?.field.type === "ip" ? parseIpBlock(this.#scanner.text()) : null;
    if (from === undefined || to === undefined || block === null) return false;
    const [first, last] = block.map((address) => JSON.stringify(formatIp(address)));
    this.#leaves.instead(first!, (kind) => this.#leaves.feed(from, kind));
    this.#leaves.instead(last!, (kind) => this.#leaves.feed(to, kind));
    return true;
  }

  /** Takes the current text as a shape in WKT: POINT (13.4 52.5). Its kind is indexed as GeoJSON names it. */
  #shapeText({ path, byName }: PlanNode): void {
    const kind = WKT_KIND.exec(this.#scanner.text())?.[1]?.toLowerCase();
    const leaf = byName.get("type")?.leaf;
    if (kind === undefined || leaf === undefined) {
      this.#leaves.fail(
        path,
        new AppError("mapping_parse", `failed to parse field [${path}] of type [geo_shape]`),
      );
      return;
    }
    const type = kind === "bbox" ? "envelope" : kind;
    this.#leaves.instead(JSON.stringify(type), (value) => this.#leaves.feed(leaf, value));
  }

  /** Bounds are kept separately: of several ranges no query could tell which of them belong together. */
  #secondRange(node: PlanNode, kind: number): void {
    this.#scanner.skip(kind);
    const message = `field [${node.path}] takes one range of a document, but there are several; map a nested object with a range in each`;
    this.#leaves.fail(node.path, new AppError("mapping_parse", message));
  }
}
