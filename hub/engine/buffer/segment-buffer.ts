/** Documents that aren't in a segment yet: their sources, ids and versions, and the fields with their terms and values. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteBuffer, FloatList, IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { compareBytes } from "#hub/engine/bytes/bytes.ts";
import { writeColumn } from "#hub/engine/columns/column-writer.ts";
import type { PackedBlock } from "#hub/engine/encoding/lz4.ts";
import { type ByteSink, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { DocumentRun } from "#hub/engine/kernel/document-run.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { SegmentDirectory } from "#hub/engine/segment/directory.ts";
import { hashId, newIdSeed, writeIdIndex } from "#hub/engine/segment/id-index.ts";
import { SOURCE_BLOCK_BYTES, type StoredBuffer, type StoredEntry } from "#hub/engine/stored/stored.ts";
import type { BufferedField, BufferedFields } from "./buffered-fields.ts";

/** Uncompressed bytes of a block of ids. */
const ID_BLOCK_BYTES = 16 * 1024;

/** Slots for ids at first. */
const INITIAL_IDS = 256;

/** Bytes per document of what is kept by document. */
const DOC_BYTES = 40;

/** Documents in a run of bytes, with their ids. */
interface BufferedRun extends DocumentRun {
  /** Ascending; see DocBatchView. */
  readonly blocks: readonly PackedBlock[];
  idStart(index: number): number;
  idStop(index: number): number;
}

/** Takes documents in order; `seal` makes a segment of them. A new one is made for each segment, the old one released. */
export class SegmentBuffer {
  /** Documents so far, dead ones included. */
  docCount = 0;
  /** Terms and values of all fields. */
  readonly fields: BufferedFields;
  readonly #source: StoredBuffer;
  /** Ids one after another, where each ends, their hashes. */
  readonly #ids = new ByteBuffer(4096);
  readonly #idEnds = new IntList();
  readonly #idHashes = new IntList();
  readonly #idSeed = newIdSeed();
  /**
   * Documents by the hash of their id, open addressing; the document of an id that is written again comes later. Those of
   * a log are never looked up, so documents are added at the first look-up.
   */
  #idTable = new Int32Array(INITIAL_IDS).fill(-1);
  #idCount = 0;
  /** Documents that `find` may give. */
  #published = 0;
  readonly #routings = new Map<number, string>();
  readonly #versions = new FloatList();
  readonly #seqNos = new FloatList();
  #dead = new Bitset(1024);
  #deadCount = 0;

  constructor(fields: BufferedFields) {
    this.fields = fields;
    this.#source = fields.stored(SOURCE_BLOCK_BYTES);
  }

  /** Memory held, bytes. */
  get sizeBytes(): number {
    return this.#source.sizeBytes + this.#ids.length + this.fields.sizeBytes + this.docCount * DOC_BYTES;
  }

  get liveCount(): number {
    return this.docCount - this.#deadCount;
  }

  /** Starts document number `docCount` and returns the number. */
  addDocument(id: Uint8Array, source: Uint8Array, version: number, seqNo: number, routing: string): number {
    const doc = this.#add(id, 0, id.length, version, seqNo);
    this.#source.add(source);
    if (routing !== "") this.#routings.set(doc, routing);
    return doc;
  }

  /**
   * Adds documents `from` to `to` of a run, whose fields are indexed: new ones of version 1, with sequence numbers from
   * `seqNo` on. Those that `failed` names are dead and take none. Returns the sequence number that follows.
   */
  addRun(
    run: BufferedRun,
    from: number,
    to: number,
    seqNo: number,
    failed: ReadonlyMap<number, unknown> | null,
  ): number {
    const { bytes } = run;
    this.#addSources(run, from, to);
    let next = seqNo;
    for (let index = from; index < to; index++) {
      const doc = this.#add(bytes, run.idStart(index), run.idStop(index), 1, next);
      if (failed?.has(index) === true) {
        this.kill(doc);
        continue;
      }
      this.publish(doc);
      next++;
    }
    return next;
  }

  /** Lets `find` give a document; to be called once it is fully written. */
  publish(doc: number): void {
    this.#published = doc + 1;
  }

  /** Live document of an id, or -1. */
  find(id: Uint8Array): number {
    this.#indexIds();
    const mask = this.#idTable.length - 1;
    let slot = hashId(id, 0, id.length, this.#idSeed) & mask;
    for (let doc = this.#idTable[slot]!; doc >= 0; doc = this.#idTable[slot]!) {
      if (!this.#dead.has(doc) && compareBytes(this.#idOf(doc), id) === 0) return doc;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** Marks a document dead: replaced, deleted, or refused half-way. */
  kill(doc: number): void {
    if (this.#dead.has(doc)) return;
    this.#dead.add(doc);
    this.#deadCount++;
  }

  isDead(doc: number): boolean {
    return this.#dead.has(doc);
  }

  /** Where values of a field go; undefined when there are too many fields. */
  field(field: Field): BufferedField | undefined {
    return this.fields.open(field);
  }

  /** What a document that isn't sealed yet was sent as. */
  source(doc: number): Uint8Array {
    return this.#source.get(doc);
  }

  version(doc: number): number {
    return this.#versions.values[doc]!;
  }

  routing(doc: number): string | undefined {
    return this.#routings.get(doc);
  }

  seqNo(doc: number): number {
    return this.#seqNos.values[doc]!;
  }

  /** Live documents of the segment that `seal` makes; null for all. */
  liveDocs(): Bitset | null {
    if (this.#deadCount === 0) return null;
    const live = Bitset.full(this.docCount);
    for (let doc = 0; doc < this.docCount; doc++) if (this.#dead.has(doc)) live.remove(doc);
    return live;
  }

  /** Writes everything as a segment to `sink`. The buffer can't be used afterwards. */
  seal(sink: ByteSink): void {
    const file = new SegmentFileWriter(sink);
    const fields = this.fields.seal(file, this.docCount);
    const count = this.docCount;
    const docs = new Int32Array(count);
    for (let doc = 0; doc < docs.length; doc++) docs[doc] = doc;
    const column = (values: FloatList) =>
      writeColumn(file, { docs, values: values.view(), count, isSingle: true }, count, "signed");
    const directory: SegmentDirectory = {
      docs: this.docCount,
      version: column(this.#versions),
      seqNo: column(this.#seqNos),
      source: this.#source.finish(file),
      ids: this.#writeIds(file),
      idIndex: writeIdIndex(file, this.#idSeed, this.#idHashes.view()),
      fields,
    };
    file.finish(directory);
  }

  /** Gives back what isn't the collector's; nothing may be called afterwards. */
  release(): void {
    this.fields.release();
  }

  /** Stores documents; blocks that came packed as they are, unless some of their documents don't belong to the run. */
  #addSources(run: BufferedRun, from: number, to: number): void {
    let done = from;
    for (const { first, count, packed } of run.blocks) {
      if (first < done || first + count > to) continue;
      this.#source.addRun(run, done, first);
      this.#source.addPacked(packed, count);
      done = first + count;
    }
    this.#source.addRun(run, done, to);
  }

  #add(ids: Uint8Array, from: number, to: number, version: number, seqNo: number): number {
    const doc = this.docCount++;
    this.#ids.append(ids, from, to);
    this.#idEnds.push(this.#ids.length);
    this.#idHashes.push(hashId(ids, from, to, this.#idSeed));
    this.#versions.push(version);
    this.#seqNos.push(seqNo);
    if (doc >= this.#dead.size) {
      const larger = new Bitset(this.#dead.size * 2);
      larger.words.set(this.#dead.words);
      this.#dead = larger;
    }
    return doc;
  }

  #writeIds(file: SegmentFileWriter): StoredEntry {
    const stored = this.fields.stored(ID_BLOCK_BYTES);
    const ends = this.#idEnds.values;
    const run = {
      bytes: this.#ids.view(),
      sourceStart: (doc: number) => (doc === 0 ? 0 : ends[doc - 1]!),
      sourceStop: (doc: number) => ends[doc]!,
    };
    stored.addRun(run, 0, this.docCount);
    return stored.finish(file);
  }

  #idOf(doc: number): Uint8Array {
    return this.#ids.bytes.subarray(doc === 0 ? 0 : this.#idEnds.values[doc - 1], this.#idEnds.values[doc]);
  }

  /** Puts the published documents that aren't there yet into the table. */
  #indexIds(): void {
    let slots = this.#idTable.length;
    while (2 * this.#published >= slots) slots *= 2;
    if (slots > this.#idTable.length) {
      this.#idTable = new Int32Array(slots).fill(-1);
      this.#idCount = 0;
    }
    const mask = slots - 1;
    for (; this.#idCount < this.#published; this.#idCount++) {
      let slot = this.#idHashes.values[this.#idCount]! & mask;
      while (this.#idTable[slot]! >= 0) slot = (slot + 1) & mask;
      this.#idTable[slot] = this.#idCount;
    }
  }
}
