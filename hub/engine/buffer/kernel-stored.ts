/** Stored bytes of a segment buffer in the kernel's memory. Gives the bytes that StoredWriter gives. */

import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import * as at from "#hub/engine/kernel/assembly/layout.ts";
import { type DocumentRun, placeRun, wholeRun } from "#hub/engine/kernel/document-run.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import {
  appendVarint,
  documentOf,
  packStored,
  readStored,
  type StoredBuffer,
  type StoredEntry,
} from "#hub/engine/stored/stored.ts";

/** Buffers of the structure. */
const BUFFERS = [at.STORED_DATA, at.STORED_INDEX, at.STORED_LENGTHS, at.STORED_BLOCK];

/** See the file's comment. `release` must be called. */
export class KernelStored implements StoredBuffer {
  readonly #kernel: Kernel;
  readonly #storedAt: number;

  /** `blockBytes`: size at which a block is closed. */
  constructor(kernel: Kernel, blockBytes: number) {
    this.#kernel = kernel;
    this.#storedAt = kernel.allocateZeroed(at.STORED_BYTES);
    kernel.setWord(this.#storedAt + at.STORED_LIMIT, blockBytes);
  }

  get sizeBytes(): number {
    const word = (offset: number) => this.#kernel.word(this.#storedAt + offset + at.BUFFER_LENGTH);
    return word(at.STORED_DATA) + word(at.STORED_BLOCK);
  }

  add(bytes: Uint8Array): void {
    this.addRun(wholeRun(bytes), 0, 1);
  }

  addRun(run: DocumentRun, from: number, to: number): void {
    const kernel = this.#kernel;
    for (let first = from; first < to; ) {
      const start = run.sourceStart(first);
      if (run.sourceStop(first) - start > at.MAX_DOCUMENT_BYTES) {
        this.#addLarge(run.bytes.subarray(start, run.sourceStop(first++)));
        continue;
      }
      const next = placeRun(kernel, run, first, to);
      const inputAt = kernel.start(kernel.scratchAt + at.SCRATCH_INPUT);
      const extentsAt = kernel.start(kernel.scratchAt + at.SCRATCH_EXTENTS);
      kernel.functions.addStored(this.#storedAt, inputAt, extentsAt, next - first);
      first = next;
    }
  }

  addPacked(packed: Uint8Array, docs: number): void {
    this.#close();
    this.#putBlock(packed, docs);
  }

  get(doc: number): Uint8Array {
    const first = this.#kernel.word(this.#storedAt + at.STORED_FIRST_DOC);
    if (doc < first) return readStored(this.#view(at.STORED_INDEX), this.#view(at.STORED_DATA), doc);
    // A copy: the kernel overwrites these bytes next.
    return documentOf(this.#view(at.STORED_LENGTHS), 0, this.#view(at.STORED_BLOCK), doc - first).slice();
  }

  /**
   * Packed blocks of all documents so far, which stay valid until this object is called again, and where each begins.
   */
  blocks(): { readonly blocks: Uint8Array; readonly offsets: Uint32Array } {
    this.#close();
    const index = new Uint32Array(this.#view(at.STORED_INDEX).slice().buffer);
    return { blocks: this.#view(at.STORED_DATA), offsets: index.filter((_, nth) => nth % 2 === 1) };
  }

  /** Forgets all documents, and keeps the memory. */
  clear(): void {
    for (const buffer of BUFFERS) this.#kernel.setLength(this.#storedAt + buffer, 0);
    this.#kernel.setWord(this.#storedAt + at.STORED_FIRST_DOC, 0);
    this.#kernel.setWord(this.#storedAt + at.STORED_NEXT_DOC, 0);
  }

  finish(file: SegmentFileWriter): StoredEntry {
    this.#close();
    return { data: file.write(this.#view(at.STORED_DATA)), index: file.write(this.#view(at.STORED_INDEX)) };
  }

  /** Gives the memory back. */
  release(): void {
    for (const buffer of BUFFERS) this.#kernel.free(this.#storedAt + buffer);
    this.#kernel.memory.release(this.#storedAt, at.STORED_BYTES);
  }

  /** A document that the kernel's scratch isn't made for: it ends the block, which is packed here. */
  #addLarge(bytes: Uint8Array): void {
    const kernel = this.#kernel;
    const storedAt = this.#storedAt;
    const lengths = appendVarint(this.#view(at.STORED_LENGTHS), bytes.length);
    const packed = packStored(lengths, [this.#view(at.STORED_BLOCK), bytes]);
    kernel.setLength(storedAt + at.STORED_LENGTHS, 0);
    kernel.setLength(storedAt + at.STORED_BLOCK, 0);
    this.#putBlock(
      packed,
      kernel.word(storedAt + at.STORED_NEXT_DOC) + 1 - kernel.word(storedAt + at.STORED_FIRST_DOC),
    );
  }

  /** Packs the documents at hand, if there are some. */
  #close(): void {
    if (this.#view(at.STORED_LENGTHS).length > 0) this.#kernel.functions.closeStored(this.#storedAt);
  }

  /** Appends a packed block of the `docs` documents after the last block. */
  #putBlock(packed: Uint8Array, docs: number): void {
    const kernel = this.#kernel;
    const storedAt = this.#storedAt;
    const first = kernel.word(storedAt + at.STORED_FIRST_DOC);
    const offset = kernel.word(storedAt + at.STORED_DATA + at.BUFFER_LENGTH);
    kernel.append(storedAt + at.STORED_INDEX, new Uint8Array(Uint32Array.of(first, offset).buffer));
    kernel.append(storedAt + at.STORED_DATA, packed);
    kernel.setWord(storedAt + at.STORED_FIRST_DOC, first + docs);
    kernel.setWord(storedAt + at.STORED_NEXT_DOC, first + docs);
  }

  #view(buffer: number): Uint8Array {
    return this.#kernel.view(this.#storedAt + buffer);
  }
}
