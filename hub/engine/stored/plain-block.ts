/** A block of documents that stand one after another. */

import { ByteReader, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import type { StoredBlock } from "./stored-blocks.ts";

/** What a document takes beside its bytes. */
const BYTES_PER_DOCUMENT = 4;

/** See the file's comment. */
export class PlainBlock implements StoredBlock {
  readonly documents: Uint8Array;
  /** Where each document ends. */
  readonly ends: Uint32Array;

  /** Takes the unpacked bytes of a block: the documents' lengths, then the documents. */
  constructor(raw: Uint8Array) {
    const lengthsBytes = readU32(raw, 0);
    const reader = new ByteReader(raw, 4);
    const ends: number[] = [];
    for (let end = 0; reader.at < 4 + lengthsBytes; ) {
      end += reader.varint();
      ends.push(end);
    }
    this.documents = raw.subarray(4 + lengthsBytes);
    this.ends = Uint32Array.from(ends);
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
