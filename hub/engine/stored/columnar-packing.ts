/**
 * Documents as packed columnar blocks, the final form of `_source`: merges write it, also that of a shard at rest. Grammar:
 * hub/engine/README.md.
 */

import { zstdDecompressSync } from "node:zlib";
import { ByteBuffer, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { compareBytes } from "#hub/engine/bytes/bytes.ts";
import * as at from "#hub/engine/kernel/assembly/layout-columnar.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import { ColumnarBlock } from "./columnar/columnar-block.ts";
import { appendZstd } from "./zstd-block.ts";

/** "TCOL" */
const MAGIC = 0x4c4f_4354;
/** Magic and unpacked bytes. */
const HEADER_BYTES = 8;
/** Largest block that is unpacked. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Every this many documents of a block that is read back one is compared. */
const CHECKED_DOCS = 64;
/** Smallest buffer that zlib takes. */
const MIN_CHUNK_BYTES = 64;
/** Growing buffers precede the table of kinds. */
const BUFFER_STEP = at.COLUMNAR_ENDS - at.COLUMNAR_INPUT;

/** Whether a packed block is columnar. */
export function isColumnar(packed: Uint8Array): boolean {
  return packed.length > HEADER_BYTES && readU32(packed, 0) === MAGIC;
}

/** Unpacks a columnar block. Throws data_corrupt, or zlib's error. */
export function openColumnar(packed: Uint8Array): ColumnarBlock {
  const size = Math.min(readU32(packed, 4), MAX_BYTES);
  const chunkSize = Math.max(MIN_CHUNK_BYTES, size);
  return new ColumnarBlock(
    zstdDecompressSync(packed.subarray(HEADER_BYTES), { chunkSize, maxOutputLength: chunkSize }),
  );
}

/** Cuts documents into columns. */
export interface DocumentColumns {
  /**
   * Returns the columnar block of consecutive documents, each up to its end; valid until the next call. Null where it
   * finds that the block gives other documents.
   */
  write(documents: Uint8Array, ends: Uint32Array): Uint8Array | null;
}

/** Makes packed columnar blocks. */
export class ColumnarPacking {
  readonly #columns: DocumentColumns;
  /** Undefined before the first block; false once a block gave other documents than those that it was made of. */
  #isTrusted: boolean | undefined;

  constructor(columns: DocumentColumns) {
    this.#columns = columns;
  }

  /**
   * Appends the block of the consecutive documents in `documents`, each up to its end. False, having appended nothing,
   * from the first block on of which samples that are read back differ.
   */
  pack(documents: Uint8Array, ends: Uint32Array, out: ByteBuffer): boolean {
    if (this.#isTrusted === false) return false;
    const columns = this.#columns.write(documents, ends);
    // The kernel reads all of its blocks back. Here the first one is read as searches will, at a third of what making it takes.
    this.#isTrusted = columns !== null && (this.#isTrusted ?? isWhole(columns, documents, ends));
    if (columns === null || !this.#isTrusted) return false;
    out.u32(MAGIC);
    out.u32(columns.length);
    appendZstd(columns, out);
    return true;
  }
}

/** Whether samples of a block are the documents that it was made of. */
function isWhole(columns: Uint8Array, documents: Uint8Array, ends: Uint32Array): boolean {
  const block = new ColumnarBlock(columns);
  if (block.count !== ends.length) return false;
  for (let place = 0; place < ends.length; place += CHECKED_DOCS) {
    const document = documents.subarray(place === 0 ? 0 : ends[place - 1], ends[place]);
    if (compareBytes(block.document(place), document) !== 0) return false;
  }
  return true;
}

/** Makes block after block. `release` must be called. */
export class KernelColumns implements DocumentColumns {
  readonly #kernel: Kernel;
  readonly #stateAt: number;
  /** A block, outside of the kernel's memory: zlib takes no shared memory. */
  readonly #block = new ByteBuffer(64 * 1024);

  /** Throws memory_limit. */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#stateAt = kernel.allocateZeroed(at.COLUMNAR_BYTES);
  }

  /** Returns the block of documents, valid until the next call; null if samples differ. Throws memory_limit. */
  write(documents: Uint8Array, ends: Uint32Array): Uint8Array | null {
    const kernel = this.#kernel;
    kernel.place(this.#stateAt + at.COLUMNAR_INPUT, documents);
    kernel.place(
      this.#stateAt + at.COLUMNAR_ENDS,
      new Uint8Array(ends.buffer, ends.byteOffset, ends.byteLength),
    );
    kernel.functions.writeColumnar(this.#stateAt, ends.length);
    if (kernel.functions.checkColumnar(this.#stateAt, ends.length) === 0) return null;
    this.#block.clear();
    this.#block.append(kernel.view(this.#stateAt + at.COLUMNAR_OUT));
    return this.#block.view();
  }

  /** Gives the memory back. */
  release(): void {
    for (let buffer = 0; buffer < at.COLUMNAR_KINDS; buffer += BUFFER_STEP)
      this.#kernel.free(this.#stateAt + buffer);
    this.#kernel.memory.release(this.#stateAt, at.COLUMNAR_BYTES);
  }
}
