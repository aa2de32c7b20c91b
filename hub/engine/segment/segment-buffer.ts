/** Documents that aren't in a segment yet: where the writer puts terms, values and sources until they are sealed. */

import { randomInt } from "node:crypto";
import type { Analyzer } from "../analysis/analysis.ts";
import { hashTerm, type TermSink, tokenizeAscii } from "../analysis/ascii-tokenizer.ts";
import { compareBytes, toBytes } from "../bytes.ts";
import type { Field } from "../mapping/field.ts";
import { Bitset } from "./bitset.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import { writeColumn } from "./column-writer.ts";
import { DictionaryWriter } from "./dictionary-writer.ts";
import type { FieldEntry, SegmentDirectory } from "./directory.ts";
import { FieldBuffer } from "./field-buffer.ts";
import { FloatList, IntList } from "./growing.ts";
import { writeIdIndex } from "./id-index.ts";
import { PostingsList } from "./postings-writer.ts";
import { writePresence } from "./presence.ts";
import { type ByteSink, SegmentFileWriter } from "./segment-file.ts";
import { StoredWriter } from "./stored.ts";
import { fieldSeed, TermPool } from "./term-pool.ts";

/** Uncompressed bytes of a block of _source: a hit costs one block to unpack. */
const SOURCE_BLOCK_BYTES = 64 * 1024;

/** Uncompressed bytes of a block of ids. */
const ID_BLOCK_BYTES = 16 * 1024;

/** Fast zstd: a fresh segment is soon merged. */
const FRESH_LEVEL = 1;

/** Fields a buffer can tell apart; term ids carry the number in 16 bits. */
export const MAX_FIELDS = 65_535;

/** Slots for ids at first. */
const INITIAL_IDS = 256;

/** Bytes per document of what is kept by document. */
const DOC_BYTES = 40;

const seed = randomInt(2 ** 31);

/** Takes documents in order; `seal` makes a segment of them. A new one is made for each segment. */
export class SegmentBuffer implements TermSink {
  /** Documents so far, dead ones included. */
  docCount = 0;
  readonly #pool = new TermPool();
  readonly #fields = new Map<string, FieldBuffer>();
  readonly #source = new StoredWriter(SOURCE_BLOCK_BYTES, FRESH_LEVEL);
  readonly #idStore = new StoredWriter(ID_BLOCK_BYTES, FRESH_LEVEL);
  /** Ids behind each other, where each ends, their hashes. */
  readonly #ids = new ByteBuffer(4096);
  readonly #idEnds = new IntList();
  readonly #idHashes = new IntList();
  /** Documents by the hash of their id, open addressing; the document of an id that is written again comes later. */
  #idTable = new Int32Array(INITIAL_IDS).fill(-1);
  #idCount = 0;
  readonly #routings = new Map<number, string>();
  readonly #versions = new FloatList();
  readonly #seqNos = new FloatList();
  #dead = new Bitset(1024);
  #deadCount = 0;
  /** Field of the text value at hand. */
  #textField: FieldBuffer | null = null;

  /** Memory held, bytes. */
  get sizeBytes(): number {
    let total = this.#pool.sizeBytes + this.#source.sizeBytes + this.#idStore.sizeBytes + this.#ids.length;
    for (const field of this.#fields.values()) total += field.sizeBytes;
    return total + this.docCount * DOC_BYTES;
  }

  get liveCount(): number {
    return this.docCount - this.#deadCount;
  }

  /** Starts document number `docCount` and returns the number. */
  addDocument(id: Uint8Array, source: Uint8Array, version: number, seqNo: number, routing: string): number {
    const doc = this.docCount++;
    if (routing !== "") this.#routings.set(doc, routing);
    this.#ids.append(id);
    this.#idEnds.push(this.#ids.length);
    this.#idHashes.push(hashTerm(id, 0, id.length, seed));
    this.#idStore.add(id);
    this.#source.add(source);
    this.#versions.push(version);
    this.#seqNos.push(seqNo);
    if (doc >= this.#dead.size) {
      const larger = new Bitset(this.#dead.size * 2);
      larger.words.set(this.#dead.words);
      this.#dead = larger;
    }
    return doc;
  }

  /** Lets `find` give a document; to be called once it is fully written. */
  publish(doc: number): void {
    if (2 * this.#idCount >= this.#idTable.length) this.#growIds();
    this.#insertId(doc);
    this.#idCount++;
  }

  /** Live document of an id, or -1. */
  find(id: Uint8Array): number {
    const mask = this.#idTable.length - 1;
    let slot = hashTerm(id, 0, id.length, seed) & mask;
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
  fieldBuffer(field: Field): FieldBuffer | undefined {
    const known = this.#fields.get(field.path);
    if (known !== undefined) return known;
    if (this.#fields.size >= MAX_FIELDS) return undefined;
    const number = this.#fields.size;
    const made = new FieldBuffer(field, number, fieldSeed(seed, number));
    this.#fields.set(field.path, made);
    return made;
  }

  /** Adds an ASCII text value by the standard analyzer. */
  addAsciiText(field: FieldBuffer, doc: number, bytes: Uint8Array, from: number, to: number): void {
    this.#textField = field;
    const start = field.startText(doc);
    const next = tokenizeAscii(bytes, from, to, field.seed, start, this);
    field.endText(doc, next - start, next);
  }

  /** Adds a text value by any analyzer. */
  addText(field: FieldBuffer, doc: number, text: string, analyzer: Analyzer): void {
    const start = field.startText(doc);
    let count = 0;
    let last = -1;
    for (const token of analyzer.tokens(text)) {
      const bytes = toBytes(token.text);
      if (bytes.length === 0 || bytes.length > MAX_TEXT_TERM_BYTES) continue;
      const hash = hashTerm(bytes, 0, bytes.length, field.seed);
      this.#pool.add(field.number, bytes, 0, bytes.length, hash, doc, start + token.position);
      // Tokens at one place count once, as with discount_overlaps.
      if (token.position !== last) count++;
      last = token.position;
    }
    field.endText(doc, count, start + last + 1);
  }

  /** Takes a word of the tokenizer. */
  term(bytes: Uint8Array, length: number, hash: number, position: number): void {
    this.#pool.add(this.#textField!.number, bytes, 0, length, hash, this.#textField!.textDoc, position);
  }

  /** Adds the term bytes[from..to) of a keyword or ip field, at most MAX_TERM_BYTES long. */
  addKeyword(field: FieldBuffer, doc: number, bytes: Uint8Array, from: number, to: number): void {
    const hash = hashTerm(bytes, from, to - from, field.seed);
    const id = field.field.index
      ? this.#pool.add(field.number, bytes, from, to - from, hash, doc, -1)
      : this.#pool.intern(field.number, bytes, from, to - from, hash);
    if (field.field.docValues) field.addNumber(doc, id);
    else field.present(doc);
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
    const fieldBuffers = [...this.#fields.values()];
    const terms = this.#pool.sorted(fieldBuffers.length);
    const ordinals = new Int32Array(this.#pool.size);
    const fields: Record<string, FieldEntry> = {};
    for (const field of fieldBuffers) {
      if (field.docs.length > 0)
        fields[field.field.path] = this.#sealField(file, field, terms[field.number]!, ordinals);
    }
    const docs = Int32Array.from({ length: this.docCount }, (_, doc) => doc);
    const column = (values: FloatList) =>
      writeColumn(file, { docs, values: values.view(), count: this.docCount }, this.docCount, "signed");
    const directory: SegmentDirectory = {
      docs: this.docCount,
      version: column(this.#versions),
      seqNo: column(this.#seqNos),
      source: this.#source.finish(file),
      ids: this.#idStore.finish(file),
      idIndex: writeIdIndex(file, this.docCount, (doc) => this.#idOf(doc)),
      fields,
    };
    file.finish(directory);
  }

  #idOf(doc: number): Uint8Array {
    return this.#ids.bytes.subarray(doc === 0 ? 0 : this.#idEnds.values[doc - 1], this.#idEnds.values[doc]);
  }

  #insertId(doc: number): void {
    const mask = this.#idTable.length - 1;
    let slot = this.#idHashes.values[doc]! & mask;
    while (this.#idTable[slot]! >= 0) slot = (slot + 1) & mask;
    this.#idTable[slot] = doc;
  }

  #growIds(): void {
    const old = this.#idTable;
    this.#idTable = new Int32Array(2 * old.length).fill(-1);
    for (const doc of old) if (doc >= 0) this.#insertId(doc);
  }

  #sealField(
    file: SegmentFileWriter,
    field: FieldBuffer,
    ids: Uint32Array,
    ordinals: Int32Array,
  ): FieldEntry {
    const norms = field.allNorms(this.docCount);
    const entry: { -readonly [K in keyof FieldEntry]: FieldEntry[K] } = {
      presence: writePresence(file, field.docs.view(), this.docCount),
    };
    if (ids.length > 0) {
      const isText = field.field.type === "text";
      const withPositions = isText && field.field.positions;
      const dictionary = new DictionaryWriter(file, norms, withPositions);
      for (let ordinal = 0; ordinal < ids.length; ordinal++) {
        const id = ids[ordinal]!;
        ordinals[id] = ordinal;
        this.#pool.postings(id, withPositions, list);
        dictionary.add(this.#pool.term(id), list);
      }
      entry.terms = dictionary.finish();
    }
    if (norms !== null) entry.norms = file.write(norms);
    const column = field.writeColumn(file, this.docCount, ordinals);
    if (column !== undefined) entry.column = column;
    return entry;
  }
}

/** Longest term that an analyzer may make, bytes; longer ones are left out, as in Lucene. */
const MAX_TEXT_TERM_BYTES = 32_766;

/** Reused from term to term. */
const list = new PostingsList();
