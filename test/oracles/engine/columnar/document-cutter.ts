/**
 * Cuts JSON documents into shapes and values. A shape is the text of a document without its values: names, punctuation,
 * white space. Pieces of the shape and values alternate, so that joining them gives the text byte for byte.
 */

import { randomInt } from "node:crypto";
import { ByteBuffer, grown, IntList } from "#hub/engine/bytes/byte-buffer.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/** Shapes of a block: documents of others stay whole. */
const MAX_SHAPES = 250;
/** Values of a document: one with more stays whole. */
const MAX_VALUES = 1000;
/** Shapes used last, with which a document is compared first. */
const RECENT = 3;
/** The shape of documents that stay whole: invalid JSON, too many values, too many shapes. */
export const NO_SHAPE = -1;

/** Odd factors of the two halves of a shape's hash, and what stands for values in it. */
const FACTOR_A = 0x0100_0193;
const FACTOR_B = 0x85eb_ca6b;
const SCALAR_EVENT = 0x100;
/** Random: chosen documents can't make two shapes meet. */
const SEED_A = randomInt(2 ** 31);
const SEED_B = randomInt(2 ** 31);

/** What a byte outside of texts is. */
const PUNCTUATION = 0;
const TEXT = 1;
const SCALAR = 2;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === QUOTE) return TEXT;
  return byte <= SPACE || "{}[],:".includes(String.fromCharCode(byte)) ? PUNCTUATION : SCALAR;
});

/** Bytes that end a run of plain characters of a text: quote, backslash, control characters. */
const STOPS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < SPACE ? 1 : 0,
);

/** Documents of one shape. */
export interface Shape {
  /** What is before each value and after the last one, one after another. */
  readonly text: Uint8Array;
  /** Where each piece ends in it. */
  readonly ends: Int32Array;
  /** The documents, by number. */
  readonly docs: IntList;
}

/** See the file's comment. One object cuts many blocks; what it holds is that of the last one. */
export class DocumentCutter {
  shapes: Shape[] = [];
  /** Documents of no shape. */
  readonly whole = new IntList();
  /** Shape of each document, NO_SHAPE for those that stay whole. */
  readonly shapeOf = new IntList();
  /** Number of each document's first value. */
  readonly firstValue = new IntList();
  /** Where each value begins and ends; none has a control character. */
  readonly starts = new IntList();
  readonly stops = new IntList();
  readonly #known = new Map<number, number>();
  readonly #recent: number[] = [];

  /** Cuts the documents that stand one after another in `bytes`, each up to its end. */
  cut(bytes: Uint8Array, ends: Int32Array | Uint32Array): void {
    this.shapes = [];
    for (const list of [this.whole, this.shapeOf, this.firstValue, this.starts, this.stops]) list.length = 0;
    this.#known.clear();
    this.#recent.length = 0;
    for (let doc = 0, from = 0; doc < ends.length; doc++) {
      const to = ends[doc]!;
      const first = this.starts.length;
      const recent = this.#recent.find((each) => this.#fits(each, bytes, from, to));
      const shape = recent ?? this.#shapeOf(bytes, from, to);
      if (shape === NO_SHAPE) {
        this.starts.length = first;
        this.stops.length = first;
        this.whole.push(doc);
      } else {
        this.shapes[shape]!.docs.push(doc);
        this.#use(shape);
      }
      this.shapeOf.push(shape);
      this.firstValue.push(first);
      from = to;
    }
  }

  /** Puts a shape first among those used last. */
  #use(shape: number): void {
    const at = this.#recent.indexOf(shape);
    if (at >= 0) this.#recent.splice(at, 1);
    else if (this.#recent.length === RECENT) this.#recent.pop();
    this.#recent.unshift(shape);
  }

  /** Finds the values of a document where it has a shape; false, having noted none, where it doesn't. */
  #fits(shape: number, bytes: Uint8Array, from: number, to: number): boolean {
    const { text, ends } = this.shapes[shape]!;
    const first = this.starts.length;
    const last = ends.length - 1;
    const starts = (this.starts.values = grown(this.starts.values, first + last));
    const stops = (this.stops.values = grown(this.stops.values, first + last));
    let at = from;
    for (let value = 0, piece = 0; value <= last; value++) {
      const end = ends[value]!;
      for (; piece < end; piece++) if (bytes[at++] !== text[piece]) return false;
      if (at > to) return false;
      if (value === last) break;
      starts[first + value] = at;
      if (text[end - 1] === QUOTE) {
        while (at < to && STOPS[bytes[at]!] === 0) at++;
        if (bytes[at] !== QUOTE) at = endOfText(bytes, at, to);
        if (at < 0 || at >= to) return false;
      } else while (at < to && KINDS[bytes[at]!] === SCALAR) at++;
      stops[first + value] = at;
    }
    if (at !== to) return false;
    this.starts.length = first + last;
    this.stops.length = first + last;
    return true;
  }

  /** Finds the values of a document, and its shape. */
  #shapeOf(bytes: Uint8Array, from: number, to: number): number {
    const first = this.starts.length;
    let a = SEED_A;
    let b = SEED_B;
    for (let at = from; at < to; ) {
      const kind = KINDS[bytes[at]!]!;
      let stop = at + 1;
      let event: number = bytes[at]!;
      if (kind === SCALAR) {
        while (stop < to && KINDS[bytes[stop]!] === SCALAR) stop++;
        this.#add(at, stop);
        event = SCALAR_EVENT;
      } else if (kind === TEXT) {
        const end = endOfText(bytes, stop, to);
        if (end < 0) return NO_SHAPE;
        stop = end + 1;
        const colon = colonAfter(bytes, stop, to);
        if (colon < 0) this.#add(at + 1, end);
        else {
          for (stop = colon; at < stop; at++) {
            a = Math.imul(a ^ bytes[at]!, FACTOR_A);
            b = Math.imul(b ^ (b >>> 15) ^ bytes[at]!, FACTOR_B);
          }
        }
      }
      a = Math.imul(a ^ event, FACTOR_A);
      b = Math.imul(b ^ (b >>> 15) ^ event, FACTOR_B);
      at = stop;
    }
    if (this.starts.length - first > MAX_VALUES) return NO_SHAPE;
    return this.#numberOf((a >>> 0) * 2 ** 21 + ((b ^ (b >>> 13)) >>> 11), bytes, from, to, first);
  }

  #add(start: number, stop: number): void {
    this.starts.push(start);
    this.stops.push(stop);
  }

  /** Number of the shape with a hash: that of the current document where it is new. */
  #numberOf(hash: number, bytes: Uint8Array, from: number, to: number, first: number): number {
    const known = this.#known.get(hash);
    if (known !== undefined) {
      this.starts.length = first;
      this.stops.length = first;
      return this.#fits(known, bytes, from, to) ? known : NO_SHAPE;
    }
    if (this.shapes.length === MAX_SHAPES) return NO_SHAPE;
    const { values: starts, length } = this.starts;
    const stops = this.stops.values;
    const text = new ByteBuffer();
    const ends = new Int32Array(length - first + 1);
    let at = from;
    for (let value = first; value < length; value++) {
      text.append(bytes, at, starts[value]);
      ends[value - first] = text.length;
      at = stops[value]!;
    }
    text.append(bytes, at, to);
    ends[length - first] = text.length;
    this.#known.set(hash, this.shapes.length);
    return this.shapes.push({ text: text.view().slice(), ends, docs: new IntList() }) - 1;
  }
}

/** Index of the quote that ends a text; -1 without one, or where a control character is before. */
function endOfText(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (STOPS[bytes[at]!] === 0) continue;
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] !== BACKSLASH) return -1;
    if (++at < to && bytes[at]! < SPACE) return -1;
  }
  return -1;
}

/** Index of the colon that comes next after white space, which makes a text a name; -1 where something else comes. */
function colonAfter(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! <= SPACE) at++;
  return at < to && bytes[at] === COLON ? at : -1;
}
