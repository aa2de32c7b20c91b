/** A block of documents that stand one after another. */

import { ByteReader, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";
import type { StoredBlock } from "./stored-blocks.ts";

/** What a document takes beside its bytes. */
const BYTES_PER_DOCUMENT = 4;

/** See the file's comment. */
export class PlainBlock implements StoredBlock {
  readonly documents: Uint8Array;
  /** The documents' lengths, varints. */
  readonly lengths: Uint8Array;
  /** Where each document ends. */
  readonly ends: Uint32Array;

  readonly #raw: Uint8Array;

  /** Takes the unpacked bytes of a block: the documents' lengths, then the documents. */
  constructor(raw: Uint8Array) {
    this.#raw = raw;
    const lengthsBytes = readU32(raw, 0);
    const reader = new ByteReader(raw, 4);
    const ends: number[] = [];
    for (let end = 0; reader.at < 4 + lengthsBytes; ) {
      end += reader.varint();
      ends.push(end);
    }
    this.lengths = raw.subarray(4, 4 + lengthsBytes);
    this.documents = raw.subarray(4 + lengthsBytes);
    this.ends = Uint32Array.from(ends);
  }

  /** Frees the memory, which nothing may read any more. */
  free(): void {
    freeBytes(this.#raw);
  }

  get count(): number {
    return this.ends.length;
  }

  get sizeBytes(): number {
    return this.documents.byteLength + BYTES_PER_DOCUMENT * this.ends.length;
  }

  document(place: number): Uint8Array {
    return this.documents.subarray(place === 0 ? 0 : this.ends[place - 1], this.ends[place]);
  }
}
