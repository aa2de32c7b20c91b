/**
 * Streams of numbers that grow side by side in one run of bytes, each a chain of slices that get longer (as Lucene's
 * ByteSlicePool). Where a stream is written to stands in arrays of its owner, at the stream's number.
 */

import { grown, writeU32 } from "#hub/engine/bytes/byte-buffer.ts";

/** Sizes of the slices of a stream, the last one for all further slices; four bytes of each lead to the next. */
const SLICE_BYTES = [8, 16, 24, 40, 64, 96, 160, 256];

/** Bytes of the address at the end of a slice. */
const LINK_BYTES = 4;

/** Start of a stream that has no slice yet. */
export const NO_SLICE = -1;

/** See the file's comment. */
export class SlicePool {
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;

  /** Bytes in use. */
  get sizeBytes(): number {
    return this.#length;
  }

  /** Starts a stream: notes in `end` where its slice ends and returns where the data begins. */
  start(end: Int32Array, stream: number): number {
    return this.#newSlice(end, stream, 0);
  }

  /** Appends a varint to a stream. */
  varint(at: Int32Array, end: Int32Array, stream: number, value: number): void {
    let place = at[stream]!;
    let limit = end[stream]!;
    let rest = value;
    for (;;) {
      if (place === limit) {
        place = this.#nextSlice(place, end, stream);
        limit = end[stream]!;
      }
      if (rest < 0x80) break;
      this.#bytes[place++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[place] = rest;
    at[stream] = place + 1;
  }

  /** Reads the stream whose data begins at `head`, as `start` said. */
  reader(head: number): SliceReader {
    return new SliceReader(this.#bytes, head);
  }

  /** Makes a slice of `level`: a byte for the level, data, the link. Returns where the data begins. */
  #newSlice(end: Int32Array, stream: number, level: number): number {
    const size = SLICE_BYTES[level]!;
    const start = this.#length;
    this.#bytes = grown(this.#bytes, start + size);
    this.#length = start + size;
    this.#bytes[start] = level;
    // The level is needed again when the slice is full; until then the link's place is free for it.
    this.#bytes[start + size - LINK_BYTES] = level;
    end[stream] = start + size - LINK_BYTES;
    return start + 1;
  }

  /** Links a full slice, whose data ends at `limit`, to a new one and returns where that one's data begins. */
  #nextSlice(limit: number, end: Int32Array, stream: number): number {
    const level = Math.min(this.#bytes[limit]! + 1, SLICE_BYTES.length - 1);
    const start = this.#newSlice(end, stream, level);
    writeU32(this.#bytes, limit, start - 1);
    return start;
  }
}

/** Reads the varints of a chain of slices. */
export class SliceReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #limit = 0;

  constructor(bytes: Uint8Array, head: number) {
    this.#bytes = bytes;
    if (head !== NO_SLICE) this.#enter(head - 1);
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.#at === this.#limit) this.#follow();
      const byte = this.#bytes[this.#at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #follow(): void {
    const bytes = this.#bytes;
    const at = this.#limit;
    this.#enter(bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  }

  #enter(start: number): void {
    this.#at = start + 1;
    this.#limit = start + SLICE_BYTES[this.#bytes[start]!]! - LINK_BYTES;
  }
}
