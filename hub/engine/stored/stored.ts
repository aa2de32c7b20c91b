/** Stored bytes by document (_source, ids): compressed blocks, found by the first document of each. Grammar: README.md. */

import { zstdDecompressSync } from "node:zlib";
import { ByteBuffer, ByteReader, IntList, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { MAX_LZ4_BYTES, packLz4, unpackLz4To } from "#hub/engine/encoding/lz4.ts";
import type { Extent, SegmentFile, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { LZ4_HEADER_BYTES, LZ4_MAGIC } from "#hub/engine/kernel/assembly/layout.ts";
import type { DocumentRun } from "#hub/engine/kernel/document-run.ts";
import { AppError } from "#proto/kit/errors.ts";
import { ColumnarPacking, type DocumentColumns, isColumnar, openColumnar } from "./columnar-packing.ts";
import { PlainBlock, type StoredBlock, storedBlocks } from "./stored-blocks.ts";
import { appendZstd } from "./zstd-block.ts";

/** Blocks that are kept though they were read one after the other. */
const KEPT_IN_ORDER = 4;

/** Where the blocks of a stored column are. */
export interface StoredEntry {
  /** Per block: first document u32, offset in `data` u32. */
  readonly index: Extent;
  readonly data: Extent;
}

/** Largest block that a reader unpacks; a single document may be larger than a block, up to this. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/** How blocks are packed: quickly, small, or the documents cut into columns. */
type Packing = "lz4" | "zstd" | DocumentColumns;

/** Uncompressed bytes of a block of _source in fresh segments: a hit costs one block to unpack. */
export const SOURCE_BLOCK_BYTES = 64 * 1024;

/** Stored bytes of documents that aren't in a segment yet, a document's number being that of its bytes. */
export interface StoredBuffer {
  /** Bytes held, packed ones included. */
  readonly sizeBytes: number;
  /** Adds the bytes of the following document. */
  add(bytes: Uint8Array): void;
  /** Adds the bytes of documents `from` to `to` of a run. */
  addRun(run: DocumentRun, from: number, to: number): void;
  /** Adds the documents of a packed block as it is, after a block of those at hand. */
  addPacked(packed: Uint8Array, docs: number): void;
  /** The bytes of a document that was added, while nothing was finished. */
  get(doc: number): Uint8Array;
  /** Writes everything to `file`. */
  finish(file: SegmentFileWriter): StoredEntry;
}

/** Collects documents into blocks and writes each as it is full. The blocks of several columns may alternate. */
export class StoredWriter implements StoredBuffer {
  readonly #file: SegmentFileWriter | undefined;
  /** Length of the file at the start. */
  readonly #start: number;
  readonly #blockBytes: number;
  readonly #packing: Packing;
  /** Packed blocks; with a file, the last one. */
  readonly #data = new ByteBuffer(64 * 1024);
  readonly #index = new ByteBuffer(256);
  readonly #lengths = new ByteBuffer(1024);
  /** Where the documents of the block end, if they are to be cut into columns. */
  readonly #ends = new IntList();
  readonly #block: ByteBuffer;
  readonly #raw: ByteBuffer;
  readonly #columns: ColumnarPacking | null;
  #firstDoc = 0;
  #nextDoc = 0;

  /**
   * `blockBytes`: size at which a block is closed. With `file` blocks are written at once, and
   * nothing else may be written to it until `finish`; `get` can't be used then.
   */
  constructor(blockBytes: number, packing: Packing, file?: SegmentFileWriter) {
    this.#file = file;
    this.#start = file?.length ?? 0;
    this.#blockBytes = blockBytes;
    this.#packing = packing;
    this.#columns = typeof packing === "object" ? new ColumnarPacking(packing) : null;
    this.#block = new ByteBuffer(blockBytes);
    this.#raw = new ByteBuffer(blockBytes);
  }

  get sizeBytes(): number {
    return this.#data.length + this.#block.length;
  }

  add(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.#lengths.varint(to - from);
    this.#block.append(bytes, from, to);
    if (this.#columns !== null) this.#ends.push(this.#block.length);
    this.#nextDoc++;
    if (this.#block.length >= this.#blockBytes) this.#close();
  }

  addRun(run: DocumentRun, from: number, to: number): void {
    for (let index = from; index < to; index++)
      this.add(run.bytes, run.sourceStart(index), run.sourceStop(index));
  }

  /** Adds the documents of an unpacked block, whose bytes stay together. */
  addAll({ documents, lengths, ends }: PlainBlock): void {
    if (this.#columns !== null) this.#ends.append(ends, this.#block.length);
    this.#lengths.append(lengths);
    this.#block.append(documents, 0, ends.at(-1) ?? 0);
    this.#nextDoc += ends.length;
    if (this.#block.length >= this.#blockBytes) this.#close();
  }

  addPacked(packed: Uint8Array, docs: number): void {
    if (this.#nextDoc > this.#firstDoc) this.#close();
    this.#startBlock();
    this.#put(packed);
    this.#nextDoc += docs;
    this.#firstDoc = this.#nextDoc;
  }

  get(doc: number): Uint8Array {
    if (doc < this.#firstDoc) return readStored(this.#index.view(), this.#data.view(), doc);
    return documentOf(this.#lengths.view(), 0, this.#block.view(), doc - this.#firstDoc);
  }

  finish(file: SegmentFileWriter): StoredEntry {
    if (this.#nextDoc > this.#firstDoc) this.#close();
    const data: Extent =
      this.#file === undefined ? file.write(this.#data.view()) : [this.#start, file.length - this.#start];
    return { data, index: file.write(this.#index.view()) };
  }

  #close(): void {
    this.#startBlock();
    if (this.#file !== undefined) this.#data.clear();
    const ends = new Uint32Array(this.#ends.view());
    if (this.#columns?.pack(this.#block.view(), ends, this.#data) !== true)
      pack(this.#plain(), this.#packing, this.#data);
    this.#file?.write(this.#data.view());
    this.#lengths.clear();
    this.#ends.length = 0;
    this.#block.clear();
    this.#firstDoc = this.#nextDoc;
  }

  /** The current block as it is packed where it isn't cut into columns. */
  #plain(): Uint8Array {
    const raw = this.#raw;
    raw.clear();
    raw.u32(this.#lengths.length);
    raw.append(this.#lengths.view());
    raw.append(this.#block.view());
    return raw.view();
  }

  /** Records where the block that follows begins. */
  #startBlock(): void {
    this.#index.u32(this.#firstDoc);
    this.#index.u32(this.#file === undefined ? this.#data.length : this.#file.length - this.#start);
  }

  /** Writes a packed block. */
  #put(packed: Uint8Array): void {
    if (this.#file === undefined) this.#data.append(packed);
    else this.#file.write(packed);
  }
}

/** Reads stored bytes. The block used last stays unpacked; others are cached, unless many are read in order. */
export class StoredReader {
  readonly #file: SegmentFile;
  readonly #entry: StoredEntry;
  readonly #index: Uint8Array;
  #number = -1;
  /** Blocks that were read one after the other until now. */
  #inOrder = 0;
  #block: StoredBlock | undefined;

  constructor(file: SegmentFile, entry: StoredEntry) {
    this.#file = file;
    this.#entry = entry;
    this.#index = file.read(entry.index);
  }

  /** Bytes of a document; they stay valid. */
  get(doc: number): Uint8Array {
    const number = blockOf(this.#index, doc);
    const block = number === this.#number ? this.#block! : this.#open(number);
    return block.document(doc - readU32(this.#index, 8 * number));
  }

  get blockCount(): number {
    return this.#index.length / 8;
  }

  /** First document of a block. */
  firstDoc(number: number): number {
    return readU32(this.#index, 8 * number);
  }

  /** A block as stored in the file; in `room`, if that is given, until it is reused. */
  packed(number: number, room?: ByteBuffer): Uint8Array {
    const from = readU32(this.#index, 8 * number + 4);
    const isLast = 8 * number + 8 >= this.#index.length;
    const to = isLast ? this.#entry.data[1] : readU32(this.#index, 8 * number + 12);
    room?.reserve(to - from);
    return this.#file.read(this.#entry.data, from, to - from, room?.bytes);
  }

  /** Gives back what is kept. */
  close(): void {
    storedBlocks().drop(this);
  }

  #open(number: number): StoredBlock {
    this.#inOrder = number === this.#number + 1 ? this.#inOrder + 1 : 0;
    const known = storedBlocks().get(this, number);
    const block = known ?? openBlock(this.packed(number));
    this.#block = block;
    this.#number = number;
    // Hits may be in neighbouring blocks; a caller that reads many in order, as merges do, doesn't return to a block.
    if (known === undefined && this.#inOrder <= KEPT_IN_ORDER) storedBlocks().put(this, number, block);
    return block;
  }
}

/** Whether a packed block is small and slow to make, as those of merged segments are. Throws data_corrupt. */
export function isLasting(packed: Uint8Array): boolean {
  return packed.length >= 4 && readU32(packed, 0) !== LZ4_MAGIC;
}

/** Unpacks a block; one of LZ4 to `room` where that is given, valid until it is used again. Throws data_corrupt. */
export function openBlock(packed: Uint8Array, room?: ByteBuffer): StoredBlock {
  return isColumnar(packed) ? openColumnar(packed) : openPlain(packed, room);
}

/** Like `openBlock`, of a block that isn't columnar, as those of ids. */
export function openPlain(packed: Uint8Array, room?: ByteBuffer): PlainBlock {
  const raw = unpack(packed, room);
  return new PlainBlock(raw, raw.buffer !== room?.bytes.buffer);
}

/** Appends `raw`, packed, to `out`. */
function pack(raw: Uint8Array, packing: Packing, out: ByteBuffer): void {
  if (packing !== "lz4" || raw.length > MAX_LZ4_BYTES) {
    appendZstd(raw, out);
    return;
  }
  out.u32(LZ4_MAGIC);
  out.u32(raw.length);
  out.append(packLz4(raw));
}

/** Unpacks a block that isn't columnar; see openBlock. */
function unpack(bytes: Uint8Array, room?: ByteBuffer): Uint8Array {
  if (bytes.length >= LZ4_HEADER_BYTES && readU32(bytes, 0) === LZ4_MAGIC) {
    const size = readU32(bytes, 4);
    const raw = size <= MAX_LZ4_BYTES ? bufferFor(size, room) : null;
    if (raw === null || !unpackLz4To(bytes.subarray(LZ4_HEADER_BYTES), size, raw, 0))
      throw new AppError("data_corrupt", "a block of stored bytes can't be unpacked");
    return raw;
  }
  return zstdDecompressSync(bytes, { maxOutputLength: MAX_BLOCK_BYTES });
}

/** Memory for an unpacked block. Who opens many reuses it: new memory would have to be touched page by page for each. */
function bufferFor(size: number, room: ByteBuffer | undefined): Uint8Array {
  if (room === undefined) return new Uint8Array(size);
  room.clear();
  room.reserve(size);
  return room.bytes.subarray(0, size);
}

/** The block of documents of these lengths (varints), whose bytes are in `parts`, packed quickly. */
export function packStored(lengths: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  const raw = new ByteBuffer(4 + lengths.length);
  raw.u32(lengths.length);
  raw.append(lengths);
  for (const part of parts) raw.append(part);
  const out = new ByteBuffer();
  pack(raw.view(), "lz4", out);
  return out.view();
}

/** `lengths` and one more. */
export function appendVarint(lengths: Uint8Array, value: number): Uint8Array {
  const out = new ByteBuffer(lengths.length + 8);
  out.append(lengths);
  out.varint(value);
  return out.view();
}

/** A document of blocks that are in memory; a copy. */
export function readStored(index: Uint8Array, data: Uint8Array, doc: number): Uint8Array {
  const block = blockOf(index, doc);
  const end = block + 1 < index.length / 8 ? readU32(index, 8 * block + 12) : data.length;
  const raw = unpack(data.subarray(readU32(index, 8 * block + 4), end));
  return documentOf(raw, 4, raw.subarray(4 + readU32(raw, 0)), doc - readU32(index, 8 * block));
}

/** Document number `position` of those whose lengths (varints) begin at `at` and whose bytes are `data`. */
export function documentOf(lengths: Uint8Array, at: number, data: Uint8Array, position: number): Uint8Array {
  const reader = new ByteReader(lengths, at);
  let from = 0;
  for (let index = 0; index < position; index++) from += reader.varint();
  return data.subarray(from, from + reader.varint());
}

/** Last block whose first document isn't after `doc`. */
function blockOf(index: Uint8Array, doc: number): number {
  let low = 0;
  let high = index.length / 8;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (readU32(index, 8 * middle) <= doc) low = middle;
    else high = middle;
  }
  return low;
}
