/** Packs the output of a worker for a RAW message: a DocumentBatch over buffers that are transferred to the main thread, not copied. */

import { jsonShape } from "#proto/codec/json-shape.ts";
import { actionCode, type DocumentAction, type DocumentBatch } from "#proto/document-batch.ts";
import { AppError } from "#proto/kit/errors.ts";
import { JsonWriter } from "./json-writer.ts";
import { type PackedRecords, RecordPacker } from "./packed-records.ts";

/** An event that no output will take. */
export interface RejectedEvent {
  readonly offset: number;
  /** Why, for people. */
  readonly reason: string;
  /** Name of the plugin that refused it, or empty. */
  readonly plugin: string;
  /** The event as JSON. */
  readonly event: Uint8Array;
}

/** What one RAW message became. */
export interface MessageOutput {
  /** Every column but `sourceIndices` is there. */
  readonly documents: DocumentBatch;
  readonly rejected: readonly RejectedEvent[];
  /** What the writers of outputs get. */
  readonly records: readonly PackedRecords[];
  readonly counts: PackCounts;
}

/** What happened to the message's lines. */
export interface PackCounts {
  events: number;
  emptyLines: number;
  nulBytes: number;
  invalidUtf8: number;
  /** Events that a filter dropped. */
  dropped: number;
}

/** Documents that the columns have capacity for at first; they double. */
const FIRST_CAPACITY = 256;

/**
 * Longest JSON of one message's documents, bytes: three times that of a block of 256 KiB with a line of one character
 * each. What all lines have in common, or zstd, could make some kB into any size.
 */
const MAX_JSON_BYTES = 128 * 1024 * 1024;

/** Bytes of most ids (DocumentIds). */
const ID_BYTES = 20;

/** Bytes of UTF-8 that a UTF-16 unit takes at most. */
const MAX_UTF8_BYTES = 3;

const ACTION_CODES: Readonly<Record<DocumentAction, number>> = {
  append: actionCode("append"),
  index: actionCode("index"),
  create: actionCode("create"),
  update: actionCode("update"),
  upsert: actionCode("upsert"),
  delete: actionCode("delete"),
};

/** A million events with up to 256 children each; 16 pipelines fit into the 32 bits of an ordinal. */
const ORDINALS_PER_PIPELINE = 2 ** 28;

/** Gathers the documents of one RAW message. Write the JSON to `json`, then call `add`. */
export class DocumentPacker {
  readonly json: JsonWriter;
  readonly counts: PackCounts = { events: 0, emptyLines: 0, nulBytes: 0, invalidUtf8: 0, dropped: 0 };
  readonly rejected: RejectedEvent[] = [];
  readonly records = new RecordPacker();
  /**
   * Set before `add` to a number that is the same for documents of the same members within this message: their shape is
   * computed once. 0 (and after each `add`): it is computed for this document.
   */
  form = 0;
  /** By form. */
  readonly #shapeOfForm = new Map<number, number>();
  #count = 0;
  #ends = new Uint32Array(FIRST_CAPACITY);
  #idEnds = new Uint32Array(FIRST_CAPACITY);
  #indices = new Uint32Array(FIRST_CAPACITY);
  #ordinals = new Uint32Array(FIRST_CAPACITY);
  #offsets = new Float64Array(FIRST_CAPACITY);
  #timesMs = new Float64Array(FIRST_CAPACITY);
  #actions = new Uint8Array(FIRST_CAPACITY);
  /** -1: not known yet. */
  #shapes = new Float64Array(FIRST_CAPACITY);
  #ids = Buffer.allocUnsafeSlow(FIRST_CAPACITY * ID_BYTES);
  #idBytes = 0;
  readonly #indexNames: string[] = [];
  /** By name: a message written by hand may have another index for each of its events. */
  readonly #placeOfIndex = new Map<string, number>();
  #lastIndex = -1;
  #nextOrdinal = 0;
  #firstOrdinal = 0;

  /** `json`: what the documents are written to, from its start on; or the expected bytes of all of them. */
  constructor(json: JsonWriter | number) {
    this.json = typeof json === "number" ? new JsonWriter(json) : json;
    this.json.at = 0;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Ends the document whose JSON was written since the last call. `eventNumber` is the index of its line in the
   * message: ordinals follow it with a gap for children, so that a redo that drops other lines keeps them. `shape`: of
   * the document, by jsonShape or EventJson, where it is known. `id`: well-formed text, or its bytes,
   * which are copied.
   */
  add(
    index: string,
    id: string | Uint8Array,
    eventNumber: number,
    offset: number,
    timeMs: number,
    action: DocumentAction = "append",
    shape = -1,
  ): void {
    const at = this.#count;
    if (this.json.at > MAX_JSON_BYTES)
      throw new AppError("data_corrupt", "the documents of one message would be larger than 128 MiB");
    if (at === this.#ends.length) this.#grow();
    this.#count++;
    const ordinal = Math.max(this.#nextOrdinal, this.#firstOrdinal + eventNumber * 256);
    this.#nextOrdinal = ordinal + 1;
    if (typeof id === "string") this.#takeText(id);
    else this.#takeBytes(id);
    this.#ends[at] = this.json.at;
    this.#idEnds[at] = this.#idBytes;
    this.#indices[at] = this.#indexPlace(index);
    this.#ordinals[at] = ordinal;
    this.#offsets[at] = offset;
    this.#timesMs[at] = timeMs;
    this.#actions[at] = ACTION_CODES[action];
    this.#shapes[at] = this.form === 0 ? shape : this.#formed(at);
    this.form = 0;
  }

  /**
   * Begins the documents of another pipeline for the same message, from 0: their ordinals follow those of the
   * earlier ones, from a number that doesn't depend on how many those were.
   */
  beginPipeline(place: number): void {
    this.#firstOrdinal = place * ORDINALS_PER_PIPELINE;
    this.#nextOrdinal = Math.max(this.#nextOrdinal, this.#firstOrdinal);
  }

  /** Returns a copy of the gathered documents; the packer must not be used again. */
  pack(): MessageOutput {
    const count = this.#count;
    this.#findShapes();
    const bytes = Buffer.allocUnsafeSlow(this.json.at);
    this.json.bytes.copy(bytes, 0, 0, this.json.at);
    return {
      documents: {
        bytes,
        start: 0,
        ends: this.#ends.slice(0, count),
        gap: 0,
        indexNames: this.#indexNames,
        indices: this.#indices.slice(0, count),
        ids: new Uint8Array(this.#ids.subarray(0, this.#idBytes)),
        idEnds: this.#idEnds.slice(0, count),
        actions: this.#actions.slice(0, count),
        ordinals: this.#ordinals.slice(0, count),
        offsets: this.#offsets.slice(0, count),
        timesMs: this.#timesMs.slice(0, count),
        shapes: this.#shapes.slice(0, count),
      },
      rejected: this.rejected,
      records: this.records.pack(),
      counts: this.counts,
    };
  }

  #takeBytes(id: Uint8Array): void {
    const from = this.#idBytes;
    this.#reserveIds(id.length);
    for (let at = 0; at < id.length; at++) this.#ids[from + at] = id[at]!;
    this.#idBytes += id.length;
  }

  #takeText(id: string): void {
    this.#reserveIds(MAX_UTF8_BYTES * id.length);
    this.#idBytes += this.#ids.write(id, this.#idBytes);
  }

  #reserveIds(bytes: number): void {
    const needed = this.#idBytes + bytes;
    if (needed > this.#ids.length) this.#ids = enlarged(this.#ids, Buffer.allocUnsafeSlow(2 * needed));
  }

  /** The shape of a document whose form is given. */
  #formed(at: number): number {
    const known = this.#shapeOfForm.get(this.form);
    if (known !== undefined) return known;
    const shape = jsonShape(this.json.bytes, at === 0 ? 0 : this.#ends[at - 1], this.#ends[at]);
    this.#shapeOfForm.set(this.form, shape);
    return shape;
  }

  #findShapes(): void {
    let start = 0;
    for (let at = 0; at < this.#count; at++) {
      const end = this.#ends[at]!;
      if (this.#shapes[at] === -1) this.#shapes[at] = jsonShape(this.json.bytes, start, end);
      start = end;
    }
  }

  #indexPlace(name: string): number {
    if (this.#lastIndex >= 0 && this.#indexNames[this.#lastIndex] === name) return this.#lastIndex;
    let place = this.#placeOfIndex.get(name);
    if (place === undefined) {
      place = this.#indexNames.push(name) - 1;
      this.#placeOfIndex.set(name, place);
    }
    this.#lastIndex = place;
    return place;
  }

  #grow(): void {
    const capacity = this.#ends.length * 2;
    this.#ends = enlarged(this.#ends, new Uint32Array(capacity));
    this.#idEnds = enlarged(this.#idEnds, new Uint32Array(capacity));
    this.#indices = enlarged(this.#indices, new Uint32Array(capacity));
    this.#ordinals = enlarged(this.#ordinals, new Uint32Array(capacity));
    this.#offsets = enlarged(this.#offsets, new Float64Array(capacity));
    this.#timesMs = enlarged(this.#timesMs, new Float64Array(capacity));
    this.#actions = enlarged(this.#actions, new Uint8Array(capacity));
    this.#shapes = enlarged(this.#shapes, new Float64Array(capacity));
  }
}

/** Returns the buffers of `output` that are transferred. */
export function transferList({ documents, records }: MessageOutput): ArrayBuffer[] {
  const columns = Object.values(documents).filter((column) => ArrayBuffer.isView(column));
  return [
    ...columns.map(({ buffer }) => buffer as ArrayBuffer),
    ...records.flatMap(({ bytes, ends, targetIndexes, places, timesMs }) => [
      bytes.buffer,
      ends.buffer,
      targetIndexes.buffer,
      places.buffer,
      timesMs.buffer,
    ]),
  ];
}

function enlarged<T extends Uint32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
