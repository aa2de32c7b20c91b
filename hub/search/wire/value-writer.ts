/** Encodes calls, answers and partial results for other threads and nodes; README.md has the grammar. */

import { RawJson } from "#hub/search/options/json-writer.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { NumberText } from "#proto/kit/number-text.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { KIB } from "#proto/kit/units.ts";
import { LateBucket } from "./late-bucket.ts";
import { HEADER_BYTES, SMALL_INTS, SMALL_SHAPES, Tag, WIRE_VERSION } from "./tags.ts";

/** Initial capacity. */
const FIRST_BYTES = 1024;

/** Largest memory that is kept for the next value. */
const MAX_SPARE_BYTES = 256 * KIB;

/** Texts that are written once and named then: those of enumerations, names and formats. Keys of buckets come once. */
const MAX_KNOWN_TEXTS = 512;

/** UTF-16 units up to which a text is remembered. */
const MAX_KNOWN_LENGTH = 40;

/** Texts up to this many units are written unit by unit, which is faster than a call while they are ASCII. */
const SHORT_TEXT = 48;

/** Items and members of one step; also the length from which a list's items are written whole, see encodeSteps. */
const STEP_ITEMS = 64;

/** Returns `value` encoded: JSON values, undefined, bigint, Map, bytes, RawJson, NumberText, AppError, LateBucket. Throws internal for others. */
export function encodeValue(value: unknown): Uint8Array {
  const writer = new ValueWriter();
  writer.value(value);
  return writer.finish();
}

/** Like encodeValue, in steps. `isDeep`: makes steps within the items of long lists, too; slower, but needed where items are large. */
export function* encodeSteps(value: unknown, isDeep = false): Generator<void, Uint8Array> {
  const writer = new ValueWriter();
  yield* writer.steps(value, isDeep);
  return writer.finish();
}

/** Like encodeValue, in slices of time: the requests of a client may hold 100,000 ranges or terms. Throws cancelled. */
export async function encodeInSlices(value: unknown, signal?: AbortSignal): Promise<Uint8Array> {
  const steps = encodeSteps(value, true);
  const slices = new TimeSlices();
  for (;;) {
    const { done, value: bytes } = steps.next();
    if (done === true) return bytes;
    if (slices.isDue) await slices.pause();
    if (signal?.aborted === true) throw new AppError("cancelled", "the request was cancelled");
  }
}

/** Keys of objects, in their order. */
interface Shape {
  readonly keys: readonly string[];
  readonly id: number;
}

/**
 * Memory for the next value, while no value is being written to it. Growing memory for each value again costs more than
 * to write the value and to copy it once.
 */
let spare: Buffer | undefined;

function takeSpare(): Buffer {
  const taken = spare ?? Buffer.allocUnsafe(FIRST_BYTES);
  spare = undefined;
  return taken;
}

class ValueWriter {
  #bytes = takeSpare();
  #view = viewOf(this.#bytes);
  #length = HEADER_BYTES;
  /** By the number of keys, the ones used last first. */
  readonly #shapes: Shape[][] = [];
  readonly #shapeList: Shape[] = [];
  readonly #texts = new Map<string, number>();
  /** Items and members since the last pause. */
  #since = 0;

  value(value: unknown): void {
    switch (typeof value) {
      case "number":
        this.#number(value);
        return;
      case "string":
        this.#text(value);
        return;
      case "object":
        this.#container(value);
        return;
      case "boolean":
        this.#u8(value ? Tag.TRUE : Tag.FALSE);
        return;
      case "undefined":
        this.#u8(Tag.UNDEFINED);
        return;
      case "bigint":
        this.#u8(Tag.BIGINT);
        this.#chars(value.toString());
        return;
      default:
        throw unsendable(typeof value);
    }
  }

  /** Like `value`, with pauses after so many items and members, however deep they are. */
  *steps(value: unknown, isDeep: boolean): Generator<void> {
    if (Array.isArray(value)) {
      if (this.#isNumbers(value)) return;
      this.#listHead(value.length);
      for (const item of value) {
        if (mayBeLong(item) && (isDeep || value.length < STEP_ITEMS)) yield* this.steps(item, isDeep);
        else this.value(item);
        if (this.#isPauseDue()) yield;
      }
    } else if (isPlain(value)) {
      for (const key of this.#objectHead(value)) {
        const each = value[key];
        if (mayBeLong(each)) yield* this.steps(each, isDeep);
        else if (typeof each === "string") this.#member(each);
        else this.value(each);
        if (this.#isPauseDue()) yield;
      }
    } else this.value(value);
  }

  /** Adds the tables and returns all, in memory of its own. */
  finish(): Uint8Array {
    const tables = this.#length;
    this.#varint(this.#shapeList.length);
    for (const { keys } of this.#shapeList) {
      this.#varint(keys.length);
      for (const key of keys) this.#text(key);
    }
    this.#varint(this.#texts.size);
    for (const text of this.#texts.keys()) this.#text(text);
    this.#bytes[0] = WIRE_VERSION;
    this.#view.setUint32(1, tables, true);
    const all = this.#bytes.subarray(0, this.#length);
    if (this.#bytes.length > MAX_SPARE_BYTES) return all;
    if (spare === undefined || spare.length < this.#bytes.length) spare = this.#bytes;
    return new Uint8Array(all);
  }

  #isPauseDue(): boolean {
    if (++this.#since < STEP_ITEMS) return false;
    this.#since = 0;
    return true;
  }

  #number(value: number): void {
    const whole = value | 0;
    if (whole !== value || Object.is(value, -0)) {
      this.#reserve(9);
      this.#bytes[this.#length] = Tag.FLOAT64;
      this.#view.setFloat64(this.#length + 1, value, true);
      this.#length += 9;
    } else if (whole >= 0 && whole < SMALL_INTS) this.#u8(Tag.SMALL_INT | whole);
    else {
      this.#reserve(5);
      this.#bytes[this.#length] = Tag.INT32;
      this.#view.setInt32(this.#length + 1, whole, true);
      this.#length += 5;
    }
  }

  #text(text: string): void {
    if (!text.isWellFormed()) {
      this.#u8(Tag.UTF16);
      this.#utf16(text);
      return;
    }
    this.#u8(Tag.TEXT);
    this.#chars(text);
  }

  /** A text of an object, which may come again. */
  #member(text: string): void {
    let known = this.#texts.get(text);
    if (known === undefined && text.length <= MAX_KNOWN_LENGTH && this.#texts.size < MAX_KNOWN_TEXTS)
      this.#texts.set(text, (known = this.#texts.size));
    if (known === undefined) this.#text(text);
    else {
      this.#u8(Tag.KNOWN_TEXT);
      this.#varint(known);
    }
  }

  #container(value: object | null): void {
    if (value === null) this.#u8(Tag.NULL);
    else if (Array.isArray(value)) {
      if (this.#isNumbers(value)) return;
      this.#listHead(value.length);
      for (let at = 0; at < value.length; at++) this.value(value[at]);
    } else if (isPlain(value)) {
      for (const key of this.#objectHead(value)) {
        const each = value[key];
        if (typeof each === "string") this.#member(each);
        else this.value(each);
      }
    } else this.#instance(value);
  }

  #instance(value: object): void {
    if (value instanceof LateBucket) this.#lateBucket(value as LateBucket);
    else if (value instanceof RawJson) this.#blob(Tag.RAW_JSON, value.bytes);
    else if (value instanceof NumberText) this.#blob(Tag.RAW_JSON, Buffer.from(value.text));
    else if (value instanceof Uint8Array) this.#blob(Tag.BYTES, value);
    else if (value instanceof AppError) {
      const { code, message, detail, data } = value;
      this.#u8(Tag.ERROR);
      for (const part of [code, message, detail, data, causeOf(value)]) this.value(part);
    } else if (value instanceof Map) {
      this.#u8(Tag.MAP);
      this.#varint(value.size);
      for (const [key, each] of value) {
        this.value(key);
        this.value(each);
      }
    } else throw unsendable(value.constructor.name);
  }

  /** What is below has its length before it, so that the reader can pass over it. */
  #lateBucket({ key, count, below }: LateBucket): void {
    this.#u8(Tag.LATE_BUCKET);
    this.value(key);
    this.value(count);
    this.#reserve(4);
    const at = this.#length;
    this.#length += 4;
    this.value(below);
    this.#view.setUint32(at, this.#length - at - 4, true);
  }

  #blob(tag: number, bytes: Uint8Array): void {
    this.#u8(tag);
    this.#varint(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes a list of numbers as such; false, having done nothing if there are others in it. */
  #isNumbers(list: readonly unknown[]): boolean {
    for (let at = 0; at < list.length; at++) if (typeof list[at] !== "number") return false;
    if (list.length === 0) return false;
    this.#u8(Tag.NUMBERS);
    this.#varint(list.length);
    this.#reserve(8 * list.length);
    for (let at = 0; at < list.length; at++) {
      this.#view.setFloat64(this.#length, list[at] as number, true);
      this.#length += 8;
    }
    return true;
  }

  #listHead(length: number): void {
    this.#u8(Tag.LIST);
    this.#varint(length);
  }

  /** Writes the shape of an object and returns its keys. */
  #objectHead(value: object): readonly string[] {
    const { keys, id } = this.#shape(Object.keys(value));
    if (id < SMALL_SHAPES) this.#u8(Tag.SHAPE | id);
    else {
      this.#u8(Tag.OBJECT);
      this.#varint(id);
    }
    return keys;
  }

  #shape(keys: readonly string[]): Shape {
    const known = (this.#shapes[keys.length] ??= []);
    for (let at = 0; at < known.length; at++) {
      const shape = known[at]!;
      if (!areEqual(shape.keys, keys)) continue;
      if (at > 0) [known[0], known[at]] = [shape, known[0]!];
      return shape;
    }
    const fresh = { keys, id: this.#shapeList.length };
    known.push(fresh);
    this.#shapeList.push(fresh);
    return fresh;
  }

  /** Length and characters of a well-formed text. */
  #chars(text: string): void {
    const { length } = text;
    if (length <= SHORT_TEXT && this.#ascii(text)) return;
    const size = Buffer.byteLength(text);
    this.#varint(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(text, this.#length, "utf8");
  }

  /** Writes a text unit by unit; false, having done nothing if it isn't ASCII. */
  #ascii(text: string): boolean {
    this.#reserve(text.length + 1);
    const bytes = this.#bytes;
    let to = this.#length;
    bytes[to++] = text.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) return false;
      bytes[to++] = unit;
    }
    this.#length = to;
    return true;
  }

  #utf16(text: string): void {
    this.#varint(2 * text.length);
    this.#reserve(2 * text.length);
    this.#length += this.#bytes.write(text, this.#length, "utf16le");
  }

  #u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** A whole number below 2^32, in 7 bits a byte. */
  #varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#length + count, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

/** The cause of an error: another error, or for the log the stack of an error outside the catalogue. */
function causeOf({ cause }: AppError): unknown {
  if (cause instanceof AppError || cause === undefined) return cause;
  return cause instanceof Error ? (cause.stack ?? cause.message) : toAppError(cause).detail;
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** False for what is written at once. */
function mayBeLong(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

function unsendable(kind: string): AppError {
  return new AppError("internal", "an answer could not be encoded", { detail: `no encoding for ${kind}` });
}
