/**
 * Indexes whole documents in the kernel: the plan of a mapping as tables in its memory, and the calls for runs of
 * documents. Values that only TypeScript can interpret are returned one by one in order; so is a refused document, of
 * which nothing was indexed.
 */

import type { KernelField } from "#hub/engine/buffer/kernel-field.ts";
import { KernelFields } from "#hub/engine/buffer/kernel-fields.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import * as at from "#hub/engine/kernel/assembly/layout.ts";
import { type DocumentRun, placeRun } from "#hub/engine/kernel/document-run.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import { type FieldType, isFeature } from "#hub/engine/mapping/field.ts";
import { type DocumentHost, type DocumentIndexer, type Indexing, leaveToHost } from "./document-indexer.ts";
import type { Leaf, PlanNode } from "./plan.ts";

/** Returns how documents are indexed by `kernel`. */
export function kernelIndexing(kernel: Kernel): Indexing {
  return {
    newFields: () => new KernelFields(kernel),
    indexer: (fields, plan) => new KernelDocuments(fields as KernelFields, plan),
  };
}

/** See DocumentIndexer. */
class KernelDocuments implements DocumentIndexer {
  readonly #kernel: Kernel;
  readonly #poolAt: number;
  readonly #planAt: number;
  readonly #planBytes: number;
  /** By their number in the plan. */
  readonly #leaves: (Leaf | PlanNode)[] = [];

  constructor(fields: KernelFields, root: PlanNode) {
    this.#kernel = fields.kernel;
    this.#poolAt = fields.poolAt;
    const image = new PlanImage(fields.kernel, this.#leaves);
    image.node(root);
    this.#planBytes = image.sizeBytes;
    this.#planAt = image.store();
  }

  write(run: DocumentRun, from: number, to: number, doc: number, host: DocumentHost): void {
    for (let first = from; first < to; ) {
      if (run.sourceStop(first) - run.sourceStart(first) > at.MAX_DOCUMENT_BYTES) {
        leaveToHost(first++, host);
        continue;
      }
      const next = placeRun(this.#kernel, run, first, to);
      this.#writePlaced(first, next, doc + (first - from), host);
      first = next;
    }
  }

  /** Indexes the documents in the scratch input. */
  #writePlaced(from: number, to: number, doc: number, host: DocumentHost): void {
    const { functions, scratchAt } = this.#kernel;
    const extentsAt = this.#kernel.start(scratchAt + at.SCRATCH_EXTENTS);
    for (let index = from; index < to; index++) {
      const extentAt = extentsAt + (index - from) * at.EXTENT_BYTES;
      const nth = doc + (index - from);
      index += functions.writeDocuments(this.#poolAt, this.#planAt, extentAt, to - index, nth);
      if (index < to) this.#askHost(index, doc + (index - from), host);
    }
  }

  /** Continues with the document that the kernel stopped at. */
  #askHost(index: number, doc: number, host: DocumentHost): void {
    const kernel = this.#kernel;
    let state = kernel.word(kernel.scratchAt + at.SCRATCH_STATE) | 0;
    try {
      host.begin(index);
      if (state === at.DOCUMENT_REFUSED) host.refused();
      while (state >= 0) {
        const entry = kernel.word(kernel.scratchAt + at.SCRATCH_TAPE) + state * at.ENTRY_BYTES;
        const leaf = this.#leaves[kernel.word(kernel.word(entry + at.ENTRY_TARGET) + at.NODE_LEAF)]!;
        // Most often it goes beyond ASCII: the next one is the kernel's.
        if ("field" in leaf && leaf.field.type === "text") kernel.learnUnicode();
        host.value(leaf, kernel.word(entry + at.ENTRY_START));
        state = kernel.functions.resumeDocument(this.#poolAt, doc, state + 1);
      }
      host.end();
    } catch (error) {
      host.failed(index, error);
    }
  }

  release(): void {
    this.#kernel.memory.release(this.#planAt, this.#planBytes);
  }
}

/** Formats whose full form the kernel reads; others follow them where it doesn't fit. */
const ISO_FORMATS = new Set([
  "strict_date_optional_time",
  "strict_date_optional_time_nanos",
  "date_optional_time",
  "dateOptionalTime",
  "strictDateOptionalTime",
]);

const TYPES: Readonly<Partial<Record<FieldType, number>>> = {
  text: at.TYPE_TEXT,
  keyword: at.TYPE_KEYWORD,
  long: at.TYPE_LONG,
  integer: at.TYPE_INTEGER,
  short: at.TYPE_SHORT,
  byte: at.TYPE_BYTE,
  double: at.TYPE_DOUBLE,
  float: at.TYPE_FLOAT,
  date: at.TYPE_DATE,
  boolean: at.TYPE_BOOLEAN,
};

/** The plan as it will be laid out in memory. Addresses are offsets until it is stored. */
class PlanImage {
  readonly #kernel: Kernel;
  /** The targets of values that the kernel may leave to the host. */
  readonly #leaves: (Leaf | PlanNode)[];
  #words = new Uint32Array(1024);
  #length = 0;
  /** Words that hold an offset into the image. */
  readonly #addresses: number[] = [];

  constructor(kernel: Kernel, leaves: (Leaf | PlanNode)[]) {
    this.#kernel = kernel;
    this.#leaves = leaves;
  }

  get sizeBytes(): number {
    return 4 * this.#length + at.SLACK_BYTES;
  }

  /** Adds a node with all its descendants; returns its offset. The first one is the root, at offset 0. */
  node(node: PlanNode): number {
    const offset = this.#take(at.NODE_BYTES);
    if (node.leaf !== undefined) this.#leaf(offset, node.leaf);
    else if (node.isRange) this.#range(offset, node);
    else if (!node.enabled) this.#set(offset + at.NODE_KIND, at.KIND_SKIPPED);
    else this.#object(offset, node);
    return offset;
  }

  /** Copies the image into the kernel's memory; returns its address. */
  store(): number {
    const address = this.#kernel.memory.allocate(this.sizeBytes);
    for (const word of this.#addresses) this.#words[word]! += address;
    this.#kernel.memory.words.set(this.#words.subarray(0, this.#length), address / 4);
    return address;
  }

  #object(offset: number, node: PlanNode): void {
    const isClosed = node.dynamic === "false";
    this.#set(offset + at.NODE_KIND, isClosed ? at.KIND_CLOSED_OBJECT : at.KIND_OBJECT);
    if (isClosed) {
      const skipped = this.#take(at.NODE_BYTES);
      this.#set(skipped + at.NODE_KIND, at.KIND_SKIPPED);
      this.#point(offset + at.NODE_TARGETS, skipped);
    }
    let slots = 4;
    while (slots < 2 * node.byName.size) slots *= 2;
    const table = this.#take(slots * at.NAME_BYTES);
    this.#point(offset + at.NODE_TABLE, table);
    this.#set(offset + at.NODE_MASK, slots - 1);
    for (const [name, child] of node.byName) this.#name(table, slots - 1, toBytes(name), this.node(child));
  }

  #name(table: number, mask: number, name: Uint8Array, node: number): void {
    const text = this.#take(name.length);
    for (const [index, byte] of name.entries()) {
      this.#words[(text >> 2) + (index >> 2)]! |= byte << (8 * (index & 3));
    }
    const { functions, scratchAt } = this.#kernel;
    const nameAt = this.#kernel.place(scratchAt + at.SCRATCH_PLAIN, name);
    const hash = functions.hashName(nameAt, name.length) >>> 0;
    let slot = hash & mask;
    while (this.#words[(table + slot * at.NAME_BYTES + at.NAME_NODE) >> 2] !== 0) slot = (slot + 1) & mask;
    const entry = table + slot * at.NAME_BYTES;
    this.#set(entry + at.NAME_HASH, hash);
    this.#point(entry + at.NAME_AT, text);
    this.#set(entry + at.NAME_LENGTH, name.length);
    this.#point(entry + at.NAME_NODE, node);
  }

  /** The host counts them. */
  #range(offset: number, node: PlanNode): void {
    this.#set(offset + at.NODE_LEAF, this.#leaves.length);
    this.#leaves.push(node);
    this.#set(offset + at.NODE_KIND, at.KIND_HOST_LEAF);
  }

  #leaf(offset: number, leaf: Leaf): void {
    this.#set(offset + at.NODE_LEAF, this.#leaves.length);
    this.#leaves.push(leaf);
    const all = [leaf, ...leaf.multiFields, ...leaf.copies.flatMap((copy) => [copy, ...copy.multiFields])];
    const targets = all.filter(({ buffer }) => buffer !== undefined);
    const isPoint = targets.length === 1 && targets[0] === leaf && leaf.field.type === "geo_point";
    const isKernels =
      leaf.field.nullValue === undefined &&
      leaf.field.aliasOf === undefined &&
      all.every(({ field }) => field.type !== "binary") &&
      (isPoint || targets.every(isKernelTarget));
    const kernelKind = isPoint ? at.KIND_POINT : at.KIND_LEAF;
    this.#set(offset + at.NODE_KIND, isKernels ? kernelKind : at.KIND_HOST_LEAF);
    if (!isKernels) return;
    const table = this.#take(targets.length * at.TARGET_BYTES);
    this.#point(offset + at.NODE_TARGETS, table);
    this.#set(offset + at.NODE_TARGET_COUNT, targets.length);
    for (const [index, { buffer, field }] of targets.entries()) {
      const target = table + index * at.TARGET_BYTES;
      this.#set(target + at.TARGET_FIELD, (buffer as KernelField).fieldAt);
      this.#set(target + at.TARGET_TYPE, TYPES[field.type] ?? 0);
      this.#set(target + at.TARGET_LIMIT, Math.min(field.ignoreAbove, 0xffff_ffff));
    }
  }

  /** Appends `sizeBytes` zeros; returns their offset. */
  #take(sizeBytes: number): number {
    const offset = 4 * this.#length;
    this.#length += (sizeBytes + 3) >> 2;
    if (this.#length > this.#words.length) {
      const larger = new Uint32Array(2 * this.#length);
      larger.set(this.#words);
      this.#words = larger;
    }
    return offset;
  }

  #set(offset: number, value: number): void {
    this.#words[offset >> 2] = value;
  }

  #point(offset: number, target: number): void {
    this.#set(offset, target);
    this.#addresses.push(offset >> 2);
  }
}

/** Whether the kernel can take all values of a field, or at least recognise those it can't. */
function isKernelTarget({ field, buffer, analyzer, normalize }: Leaf): boolean {
  if (buffer === undefined || TYPES[field.type] === undefined || isFeature(field)) return false;
  if (field.type === "text") return analyzer?.isStandard === true;
  if (field.type === "keyword") return normalize === null;
  return field.type !== "date" || ISO_FORMATS.has(field.format.split("||")[0]!.trim());
}
