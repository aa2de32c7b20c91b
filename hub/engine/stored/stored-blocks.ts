/**
 * A cache of the most recently used unpacked blocks of stored bytes. Hits are in the order of their rank, so one page
 * reads a block several times, and so does the next request for the page. One cache for all segments of a thread.
 */

import { BoundedCache } from "#hub/engine/bytes/bounded-cache.ts";
import { ByteReader, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";

/** Bytes of all blocks: about sixty of merged segments. */
const LIMIT_BYTES = 16 * 1024 * 1024;

/** A block above this share of the limit isn't kept: it would push out everything else. */
const LARGEST_SHARE = 1 / 4;

/** What a document takes beside its bytes. */
const BYTES_PER_DOCUMENT = 4;

const NOTHING = new Uint8Array(0);

/** An unpacked block. */
export interface StoredBlock {
  /** Documents of the block. */
  readonly count: number;
  /** Memory held, bytes. */
  readonly sizeBytes: number;
  /** Bytes of document number `index` of the block; they stay valid, and aren't to be changed. */
  document(index: number): Uint8Array;
}

/** See the file's comment. By number, of each owner; not to be changed. */
export class StoredBlocks extends BoundedCache<number, StoredBlock> {
  readonly #largestBytes: number;

  constructor(limitBytes = LIMIT_BYTES) {
    super(limitBytes);
    this.#largestBytes = limitBytes * LARGEST_SHARE;
  }

  /** Keeps a block, which isn't here, unless it is large. */
  override put(owner: object, number: number, block: StoredBlock): void {
    if (block.sizeBytes <= this.#largestBytes) super.put(owner, number, block);
  }
}

let ofThread: StoredBlocks | undefined;

/** Returns the blocks of this thread. */
export function storedBlocks(): StoredBlocks {
  return (ofThread ??= new StoredBlocks());
}

/** A block of consecutive documents. */
export class PlainBlock implements StoredBlock {
  readonly documents: Uint8Array;
  /** The documents' lengths, varints. */
  readonly lengths: Uint8Array;
  /** Where each document ends. */
  readonly ends: Uint32Array;

  readonly #raw: Uint8Array;

  /** Takes the unpacked bytes of a block: the documents' lengths, then the documents. `isOwner`: `free` frees them. */
  constructor(raw: Uint8Array, isOwner = true) {
    this.#raw = isOwner ? raw : NOTHING;
    const lengthsBytes = readU32(raw, 0);
    this.lengths = raw.subarray(4, 4 + lengthsBytes);
    this.documents = raw.subarray(4 + lengthsBytes);
    this.ends = endsOf(raw, 4, Math.min(4 + lengthsBytes, raw.length));
  }

  /** Frees memory of its own, which nothing may read any more. */
  free(): void {
    freeBytes(this.#raw);
  }

  get count(): number {
    return this.ends.length;
  }

  get sizeBytes(): number {
    return this.documents.byteLength + BYTES_PER_DOCUMENT * this.ends.length;
  }

  document(index: number): Uint8Array {
    return this.documents.subarray(index === 0 ? 0 : this.ends[index - 1], this.ends[index]);
  }
}

/** Where documents end whose lengths are the varints of raw[from..to): of one or two bytes, most of them. */
function endsOf(raw: Uint8Array, from: number, to: number): Uint32Array {
  // A length takes a byte at least.
  const ends = new Uint32Array(Math.max(0, to - from));
  const reader = new ByteReader(raw, from);
  let count = 0;
  let end = 0;
  for (let at = from; at < to; ) {
    const first = raw[at]!;
    if (first < 0x80) {
      end += first;
      at++;
    } else if (at + 1 < to && raw[at + 1]! < 0x80) {
      end += (first & 0x7f) | (raw[at + 1]! << 7);
      at += 2;
    } else {
      reader.at = at;
      end += reader.varint();
      at = reader.at;
    }
    ends[count++] = end;
  }
  return ends.subarray(0, count);
}
