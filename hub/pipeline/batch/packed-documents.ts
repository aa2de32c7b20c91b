/**
 * Documents on their way from a worker to the main thread: columns over a few buffers that are handed over, not
 * copied, and one string for all ids.
 */

import type { DocumentAction } from "#hub/pipeline/plugins/output.ts";
import { jsonShape } from "#proto/codec/json-shape.ts";
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

/** What one RAW message became. Columns run in parallel, one entry a document. */
export interface PackedDocuments {
  /** All documents' JSON, one behind the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each document ends in `bytes`. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly ids: string;
  /** Where each id ends in `ids`. */
  readonly idEnds: Uint32Array<ArrayBuffer>;
  readonly indexNames: readonly string[];
  /** Place of each document's index in `indexNames`. */
  readonly indices: Uint32Array<ArrayBuffer>;
  readonly ordinals: Uint32Array<ArrayBuffer>;
  readonly offsets: Float64Array<ArrayBuffer>;
  /** Places in DOCUMENT_ACTIONS. */
  readonly actions: Uint8Array<ArrayBuffer>;
  /** `@timestamp` of each, ms since 1970-01-01 UTC. */
  readonly timesMs: Float64Array<ArrayBuffer>;
  /** Shape of each, as jsonShape or EventJson gives it: asked here, the main thread needn't look into documents it knows. */
  readonly shapes: Float64Array<ArrayBuffer>;
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

/** "append": the id is the document's own by construction, so there is nothing to look up. */
export const DOCUMENT_ACTIONS = ["append", "index", "create", "update", "upsert", "delete"] as const;

type PackedAction = (typeof DOCUMENT_ACTIONS)[number] & ("append" | DocumentAction);

const ACTION_PLACES: Readonly<Record<PackedAction, number>> = {
  append: 0,
  index: 1,
  create: 2,
  update: 3,
  upsert: 4,
  delete: 5,
};

/** Room for the first document's columns; they double. */
const FIRST_CAPACITY = 256;

/** Characters of most ids (DocumentIds). */
const ID_CHARACTERS = 20;

/** A million events with room for 256 children each; 16 pipelines fit into the 32 bits of an ordinal. */
const ORDINALS_PER_PIPELINE = 2 ** 28;

/** Gathers the documents of one RAW message. Write the JSON to `json`, then call `add`. */
export class DocumentPacker {
  readonly json: JsonWriter;
  readonly counts: PackCounts = { events: 0, emptyLines: 0, nulBytes: 0, invalidUtf8: 0, dropped: 0 };
  readonly rejected: RejectedEvent[] = [];
  readonly records = new RecordPacker();
  /**
   * Set before `add` to a number that only documents of the same members have within this message: their shape is
   * found out once. 0 (and after each `add`): it is found out by itself.
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
  #ids = "";
  /** Ids in ASCII that follow those. */
  #asciiIds = Buffer.allocUnsafeSlow(FIRST_CAPACITY * ID_CHARACTERS);
  #asciiIdBytes = 0;
  readonly #indexNames: string[] = [];
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
   * Ends the document whose JSON was written since the last call. `eventNumber` is the place of its line in the
   * message: ordinals follow it with room for children, so that a redo that drops other lines keeps them. `shape`: of
   * the document, by jsonShape or EventJson, where it is known. `id`: bytes are ASCII, and copied.
   */
  add(
    index: string,
    id: string | Uint8Array,
    eventNumber: number,
    offset: number,
    timeMs: number,
    action: PackedAction = "append",
    shape = -1,
  ): void {
    const at = this.#count;
    if (at === this.#ends.length) this.#grow();
    this.#count++;
    const ordinal = Math.max(this.#nextOrdinal, this.#firstOrdinal + eventNumber * 256);
    this.#nextOrdinal = ordinal + 1;
    if (typeof id === "string") this.#takeIds(id);
    else this.#takeAsciiId(id);
    this.#ends[at] = this.json.at;
    this.#idEnds[at] = this.#ids.length + this.#asciiIdBytes;
    this.#indices[at] = this.#indexPlace(index);
    this.#ordinals[at] = ordinal;
    this.#offsets[at] = offset;
    this.#timesMs[at] = timeMs;
    this.#actions[at] = ACTION_PLACES[action];
    this.#shapes[at] = this.form === 0 ? shape : this.#formed(at);
    this.form = 0;
  }

  /**
   * Begins the documents of another pipeline for the same message, from 0: their ordinals come behind those of the
   * ones before, at a place that doesn't depend on how many those were.
   */
  beginPipeline(place: number): void {
    this.#firstOrdinal = place * ORDINALS_PER_PIPELINE;
    this.#nextOrdinal = Math.max(this.#nextOrdinal, this.#firstOrdinal);
  }

  /** Returns what was gathered, a copy; the packer is used up. */
  pack(): PackedDocuments {
    const count = this.#count;
    this.#findShapes();
    this.#takeIds("");
    const bytes = Buffer.allocUnsafeSlow(this.json.at);
    this.json.bytes.copy(bytes, 0, 0, this.json.at);
    return {
      bytes,
      ends: this.#ends.slice(0, count),
      ids: this.#ids,
      idEnds: this.#idEnds.slice(0, count),
      indexNames: this.#indexNames,
      indices: this.#indices.slice(0, count),
      ordinals: this.#ordinals.slice(0, count),
      offsets: this.#offsets.slice(0, count),
      timesMs: this.#timesMs.slice(0, count),
      actions: this.#actions.slice(0, count),
      shapes: this.#shapes.slice(0, count),
      rejected: this.rejected,
      records: this.records.pack(),
      counts: this.counts,
    };
  }

  #takeAsciiId(id: Uint8Array): void {
    const from = this.#asciiIdBytes;
    this.#asciiIdBytes += id.length;
    if (this.#asciiIdBytes > this.#asciiIds.length) {
      this.#asciiIds = enlarged(this.#asciiIds, Buffer.allocUnsafeSlow(2 * this.#asciiIdBytes));
    }
    for (let at = 0; at < id.length; at++) this.#asciiIds[from + at] = id[at]!;
  }

  /** Makes text of the ids in ASCII and puts `id` behind them. */
  #takeIds(id: string): void {
    this.#ids += this.#asciiIds.toString("latin1", 0, this.#asciiIdBytes) + id;
    this.#asciiIdBytes = 0;
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
    this.#lastIndex = this.#indexNames.indexOf(name);
    if (this.#lastIndex < 0) this.#lastIndex = this.#indexNames.push(name) - 1;
    return this.#lastIndex;
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

/** Returns the buffers of `packed` that are handed over. */
export function transferList(packed: PackedDocuments): ArrayBuffer[] {
  return [
    packed.bytes.buffer,
    packed.ends.buffer,
    packed.idEnds.buffer,
    packed.indices.buffer,
    packed.ordinals.buffer,
    packed.offsets.buffer,
    packed.timesMs.buffer,
    packed.actions.buffer,
    packed.shapes.buffer,
    ...packed.records.flatMap(({ bytes, ends, targetPlaces, places, timesMs }) => [
      bytes.buffer,
      ends.buffer,
      targetPlaces.buffer,
      places.buffer,
      timesMs.buffer,
    ]),
  ];
}

function enlarged<T extends Uint32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
