/**
 * A view of the bytes of a DocBatch: the positions of each operation, its id and its document, without an object for
 * each. Most operations are plain: they add a document that is new by construction, without options.
 */

import type { PackedBlock } from "#hub/engine/encoding/lz4.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { readAppends } from "./append-columns.ts";

/** Fields of DocBatch and DocOperation as tags: number << 3 | wire type (protobuf.dev, Encoding). */
const BATCH_OPERATION = 0x5a;
const BATCH_APPENDS = 0x6a;
const KIND = 0x08;
const ID = 0x12;
const SOURCE = 0x1a;
const ORDINAL = 0x28;
const SOURCE_INDEX = 0x30;
const OFFSET = 0x38;
const APPEND_ONLY = 0x80;

/** Wire types. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Offsets of an operation's numbers among those of all. */
const START = 0;
const STOP = 1;
const ID_START = 2;
const ID_STOP = 3;
const SOURCE_START = 4;
const SOURCE_STOP = 5;
const ORDINAL_AT = 6;
const SOURCE_INDEX_AT = 7;
const PLAIN = 8;
const STRIDE = 9;

/** Expected bytes of an operation, by which the first capacity is chosen. */
const OPERATION_BYTES = 256;

/** See the file's comment. */
export class DocBatchView {
  /** All of the message but its operations. */
  readonly header: tailrace.DocBatch;
  /** The message. */
  readonly #message: Uint8Array;
  /** What the offsets of ids and documents refer to: the message, or what of it was packed. */
  bytes: Uint8Array;
  /** Size of the message, or of what of it was packed; `bytes` may be larger memory. */
  sizeBytes: number;
  /** Number of operations. */
  count = 0;
  /** Blocks that hold the documents of all operations as a segment stores them; none if they came otherwise. */
  blocks: readonly PackedBlock[] = [];
  #hasColumns = false;
  #numbers: Int32Array = new Int32Array(0);
  #offsets: Float64Array = new Float64Array(0);
  /** Where the bytes are read. */
  #at = 0;

  /** Throws data_corrupt. */
  constructor(bytes: Uint8Array) {
    this.#message = bytes;
    this.bytes = bytes;
    this.sizeBytes = bytes.length;
    const rest: Uint8Array[] = [];
    while (this.#at < bytes.length) {
      const start = this.#at;
      const tag = this.#varint();
      if (tag === BATCH_OPERATION) this.#scan();
      else if (tag === BATCH_APPENDS) this.#takeColumns();
      else {
        this.#skip(tag);
        rest.push(bytes.subarray(start, this.#at));
      }
    }
    this.header = DocBatch.decode(Buffer.concat(rest));
  }

  /** The view of a message that isn't bytes yet. */
  static of(batch: tailrace.IDocBatch): DocBatchView {
    return new DocBatchView(DocBatch.encode(batch).finish());
  }

  /** Whether an operation is nothing but a new document with its id and its position in the log. */
  isPlain(index: number): boolean {
    return this.#numbers[index * STRIDE + PLAIN] === 1;
  }

  id(index: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString(
      "utf8",
      this.idStart(index),
      this.idStop(index),
    );
  }

  idStart(index: number): number {
    return this.#numbers[index * STRIDE + ID_START]!;
  }

  idStop(index: number): number {
    return this.#numbers[index * STRIDE + ID_STOP]!;
  }

  sourceStart(index: number): number {
    return this.#numbers[index * STRIDE + SOURCE_START]!;
  }

  sourceStop(index: number): number {
    return this.#numbers[index * STRIDE + SOURCE_STOP]!;
  }

  ordinal(index: number): number {
    return this.#numbers[index * STRIDE + ORDINAL_AT]! >>> 0;
  }

  /** 1-based, 0 for none. */
  sourceIndex(index: number): number {
    return this.#numbers[index * STRIDE + SOURCE_INDEX_AT]!;
  }

  offset(index: number): number {
    return this.#offsets[index]!;
  }

  /** An operation as an object. */
  operation(index: number): tailrace.DocOperation {
    const at = index * STRIDE;
    const stop = this.#numbers[at + STOP]!;
    if (stop > 0) return DocOperation.decode(this.#message.subarray(this.#numbers[at + START], stop));
    // A decoded operation has its zeros on its prototype.
    const operation = DocOperation.decode(new Uint8Array(0));
    return Object.assign(operation, {
      id: this.id(index),
      source: this.bytes.subarray(this.sourceStart(index), this.sourceStop(index)),
      ordinal: this.ordinal(index),
      sourceIndex: this.sourceIndex(index),
      offset: this.offset(index),
      appendOnly: true,
    });
  }

  /** Records the documents of the columns whose length was just read. */
  #takeColumns(): void {
    const length = this.#varint();
    const stop = this.#checked(this.#at + length);
    if (this.count > 0 || this.#hasColumns) throw corrupt();
    this.#hasColumns = true;
    const { documents, ids, ...columns } = readAppends(this.#message.subarray(this.#at, stop));
    this.#at = stop;
    const { count, starts, stops, idBytes, ordinals, sourceIndices, offsets } = columns;
    const numbers = new Int32Array(count * STRIDE);
    if (columns.isPacked) {
      this.bytes = new Uint8Array(documents.buffer);
      this.sizeBytes = documents.length + ids.length;
    }
    this.blocks = columns.blocks;
    const idsAt = ids.byteOffset - this.bytes.byteOffset;
    const documentsAt = documents.byteOffset - this.bytes.byteOffset;
    for (let index = 0, to = 0; index < count; index++, to += STRIDE) {
      numbers[to + ID_START] = idsAt + index * idBytes;
      numbers[to + ID_STOP] = idsAt + (index + 1) * idBytes;
      numbers[to + SOURCE_START] = documentsAt + starts[index]!;
      numbers[to + SOURCE_STOP] = documentsAt + stops[index]!;
      numbers[to + ORDINAL_AT] = ordinals === null ? index : ordinals[index]!;
      numbers[to + SOURCE_INDEX_AT] = sourceIndices === null ? 0 : sourceIndices[index]!;
      numbers[to + PLAIN] = 1;
    }
    this.count = count;
    this.#numbers = numbers;
    this.#offsets = offsets ?? new Float64Array(count);
  }

  /** Records the operation whose length was just read. */
  #scan(): void {
    const length = this.#varint();
    const stop = this.#checked(this.#at + length);
    if (this.#hasColumns) throw corrupt();
    const index = this.count++;
    if (index === this.#offsets.length) this.#grow();
    const numbers = this.#numbers;
    const to = index * STRIDE;
    numbers[to + START] = this.#at;
    numbers[to + STOP] = stop;
    let isPlain = true;
    let isNew = false;
    while (this.#at < stop) {
      const tag = this.#varint();
      switch (tag) {
        case ID:
        case SOURCE: {
          const size = this.#varint();
          numbers[to + (tag === ID ? ID_START : SOURCE_START)] = this.#at;
          this.#at = this.#checked(this.#at + size);
          numbers[to + (tag === ID ? ID_STOP : SOURCE_STOP)] = this.#at;
          break;
        }
        case ORDINAL:
          numbers[to + ORDINAL_AT] = this.#varint();
          break;
        case SOURCE_INDEX:
          numbers[to + SOURCE_INDEX_AT] = this.#varint();
          break;
        case OFFSET:
          this.#offsets[index] = this.#varint();
          break;
        case KIND:
          isPlain = this.#varint() <= DocOperation.Kind.CREATE && isPlain;
          break;
        case APPEND_ONLY:
          isNew = this.#varint() === 1;
          break;
        default:
          isPlain = this.#skipDefault(tag) && isPlain;
      }
    }
    if (this.#at !== stop) throw corrupt();
    numbers[to + PLAIN] = isPlain && isNew ? 1 : 0;
  }

  /** Passes over a field; returns whether it has the value that it has where it is missing. */
  #skipDefault(tag: number): boolean {
    const start = this.#at;
    this.#skip(tag);
    return this.#at === start + 1 && this.#message[start] === 0;
  }

  #skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        this.#varint();
        break;
      case FIXED64:
        this.#at = this.#checked(this.#at + 8);
        break;
      case BYTES: {
        const length = this.#varint();
        this.#at = this.#checked(this.#at + length);
        break;
      }
      case FIXED32:
        this.#at = this.#checked(this.#at + 4);
        break;
      default:
        throw corrupt();
    }
  }

  #varint(): number {
    const bytes = this.#message;
    let byte = bytes[this.#at++] ?? 0;
    let value = byte & 0x7f;
    for (let factor = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * factor;
    }
    if (this.#at > bytes.length) throw corrupt();
    return value;
  }

  #checked(stop: number): number {
    if (stop > this.#message.length) throw corrupt();
    return stop;
  }

  #grow(): void {
    const capacity = Math.max(
      2 * this.#offsets.length,
      1 + Math.ceil(this.#message.length / OPERATION_BYTES),
    );
    const numbers = new Int32Array(capacity * STRIDE);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    const offsets = new Float64Array(capacity);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
  }
}

function corrupt(): AppError {
  return new AppError("data_corrupt", "a message of the log is damaged: a field of it doesn't end");
}
