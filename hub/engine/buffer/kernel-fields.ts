/**
 * The fields of a segment buffer in the kernel's memory. `release` must be called, because this memory isn't
 * garbage-collected. Tests compare it byte for byte with test/oracles/engine/plain-fields.ts.
 */

import type { DictionaryEntry } from "#hub/engine/dictionary/dictionary-writer.ts";
import { KernelSeal } from "#hub/engine/dictionary/kernel-seal.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import * as at from "#hub/engine/kernel/assembly/layout.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import { columnKind, type Field } from "#hub/engine/mapping/field.ts";
import type { FieldEntry } from "#hub/engine/segment/directory.ts";
import { writePresence } from "#hub/engine/segment/presence.ts";
import { type BufferedFields, MAX_FIELDS } from "./buffered-fields.ts";
import { KernelField } from "./kernel-field.ts";
import { KernelStored } from "./kernel-stored.ts";

/** Slots of a new hash table: small, since most buffers of an idle hub stay small. */
const FIRST_SLOTS = 2048;

/** Buffers of the pool's structure. */
const POOL_BUFFERS = [at.POOL_TABLE, at.POOL_TERMS, at.POOL_TEXT];

/** Share of the limit that must be free for buffers to grow on: it is for one message and for sealing. */
const FREE_FOR_GROWTH = 0.25;

/** See BufferedFields. */
export class KernelFields implements BufferedFields {
  readonly kernel: Kernel;
  /** Address of the pool of terms. */
  readonly poolAt: number;
  readonly #fields = new Map<string, KernelField>();
  readonly #stored: KernelStored[] = [];
  #released = false;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
    this.poolAt = kernel.allocateZeroed(at.POOL_BYTES);
    kernel.functions.initPool(this.poolAt, FIRST_SLOTS);
  }

  get isTight(): boolean {
    const { memory } = this.kernel;
    return memory.headroomBytes < FREE_FOR_GROWTH * memory.limitBytes;
  }

  get sizeBytes(): number {
    const { kernel, poolAt } = this;
    if (this.#released) return 0;
    // The table's length isn't kept: all of it is in use.
    let total = kernel.reservedBytes(poolAt + at.POOL_TABLE);
    for (const buffer of [at.POOL_TERMS, at.POOL_TEXT]) {
      total += kernel.word(poolAt + buffer + at.BUFFER_LENGTH);
    }
    for (const field of this.#fields.values()) total += field.sizeBytes;
    return total;
  }

  open(field: Field): KernelField | undefined {
    const known = this.#fields.get(field.path);
    if (known !== undefined) return known;
    if (this.#fields.size >= MAX_FIELDS) return undefined;
    const made = new KernelField(this.kernel, this.poolAt, field, this.#fields.size);
    this.#fields.set(field.path, made);
    return made;
  }

  stored(blockBytes: number): KernelStored {
    const made = new KernelStored(this.kernel, blockBytes);
    this.#stored.push(made);
    return made;
  }

  seal(file: SegmentFileWriter, docCount: number): Record<string, FieldEntry> {
    const { kernel } = this;
    const entries: Record<string, FieldEntry> = {};
    const termCount = kernel.word(this.poolAt + at.POOL_TERM_COUNT);
    const startsBytes = 4 * (this.#fields.size + 1);
    const startsAt = kernel.memory.allocate(startsBytes);
    const idsAt = kernel.memory.allocate(4 * termCount);
    const ordinalsAt = kernel.memory.allocate(4 * termCount);
    const workspaceAt = kernel.allocateZeroed(at.BUFFER_BYTES);
    kernel.functions.groupTerms(this.poolAt, this.#fields.size, startsAt, idsAt);
    for (const [path, field] of this.#fields) {
      if (!field.isUsed) continue;
      const from = kernel.word(startsAt + 4 * field.number);
      const count = kernel.word(startsAt + 4 * field.number + 4) - from;
      kernel.functions.sortTerms(this.poolAt, idsAt + 4 * from, count, ordinalsAt, workspaceAt);
      kernel.functions.toOrdinals(field.fieldAt, ordinalsAt);
      entries[path] = this.#sealField(file, field, idsAt + 4 * from, count, docCount);
    }
    kernel.free(workspaceAt);
    kernel.memory.release(workspaceAt, at.BUFFER_BYTES);
    kernel.memory.release(ordinalsAt, 4 * termCount);
    kernel.memory.release(idsAt, 4 * termCount);
    kernel.memory.release(startsAt, startsBytes);
    return entries;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    for (const field of this.#fields.values()) field.release();
    for (const stored of this.#stored) stored.release();
    for (const buffer of POOL_BUFFERS) this.kernel.free(this.poolAt + buffer);
    this.kernel.memory.release(this.poolAt, at.POOL_BYTES);
  }

  #sealField(
    file: SegmentFileWriter,
    field: KernelField,
    idsAt: number,
    count: number,
    docCount: number,
  ): FieldEntry {
    const hasNorms = field.field.norms;
    if (hasNorms) this.kernel.functions.padNorms(field.fieldAt, docCount);
    const entry: { -readonly [K in keyof FieldEntry]: FieldEntry[K] } = {
      presence: writePresence(file, field.docs(), docCount),
    };
    if (count > 0) entry.terms = this.#sealTerms(file, field, idsAt, count);
    if (hasNorms) entry.norms = file.write(this.kernel.view(field.fieldAt + at.FIELD_NORMS));
    if (field.field.docValues && columnKind(field.field) !== null) {
      const column = field.writeColumn(file, docCount);
      if (column !== undefined) entry.column = column;
    }
    return entry;
  }

  #sealTerms(file: SegmentFileWriter, field: KernelField, idsAt: number, count: number): DictionaryEntry {
    const { functions } = this.kernel;
    const isText = field.field.type === "text";
    const positions = isText && field.field.positions;
    const seal = new KernelSeal(
      this.kernel,
      positions ? at.KEEP_POSITIONS : isText ? at.KEEP_FREQS : at.KEEP_DOCS,
    );
    if (isText) functions.gatherWords(field.fieldAt, seal.sealAt, count);
    else if (field.field.index) functions.gatherValues(field.fieldAt, seal.sealAt, count);
    else functions.gatherNothing(seal.sealAt, count);
    if (field.field.norms) seal.setNorms(this.kernel.start(field.fieldAt + at.FIELD_NORMS));
    for (let done = 0; done < count; ) {
      done = functions.addTerms(this.poolAt, seal.sealAt, idsAt, done, count);
      seal.flush(file);
    }
    const entry = seal.finish(file);
    seal.release();
    return entry;
  }
}
