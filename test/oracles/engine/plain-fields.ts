/** The fields of a segment buffer in TypeScript: the twin of the kernel's, and what is in where there is no kernel. */

import { randomInt } from "node:crypto";
import { type BufferedFields, MAX_FIELDS } from "#hub/engine/buffer/buffered-fields.ts";
import { DictionaryWriter } from "#hub/engine/dictionary/dictionary-writer.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { PostingsList } from "#hub/engine/postings/postings-writer.ts";
import type { FieldEntry } from "#hub/engine/segment/directory.ts";
import { writePresence } from "#hub/engine/segment/presence.ts";
import { StoredWriter } from "#hub/engine/stored/stored.ts";
import { FieldBuffer } from "./field-buffer.ts";
import { fieldSeed, TermPool } from "./term-pool.ts";

const seed = randomInt(2 ** 31);

/** Reused from term to term. */
const list = new PostingsList();

/** See BufferedFields. */
export class PlainFields implements BufferedFields {
  readonly #pool = new TermPool();
  readonly #fields = new Map<string, FieldBuffer>();

  readonly isTight = false;

  get sizeBytes(): number {
    let total = this.#pool.sizeBytes;
    for (const field of this.#fields.values()) total += field.sizeBytes;
    return total;
  }

  open(field: Field): FieldBuffer | undefined {
    const known = this.#fields.get(field.path);
    if (known !== undefined) return known;
    if (this.#fields.size >= MAX_FIELDS) return undefined;
    const number = this.#fields.size;
    const made = new FieldBuffer(field, number, fieldSeed(seed, number), this.#pool);
    this.#fields.set(field.path, made);
    return made;
  }

  stored(blockBytes: number): StoredWriter {
    return new StoredWriter(blockBytes, "lz4");
  }

  seal(file: SegmentFileWriter, docCount: number): Record<string, FieldEntry> {
    const terms = this.#pool.sorted(this.#fields.size);
    const ordinals = new Int32Array(this.#pool.size);
    const entries: Record<string, FieldEntry> = {};
    for (const [path, field] of this.#fields) {
      if (field.docs.length > 0)
        entries[path] = this.#sealField(file, field, terms[field.number]!, ordinals, docCount);
    }
    return entries;
  }

  release(): void {
    // What the collector takes needs no help.
  }

  #sealField(
    file: SegmentFileWriter,
    field: FieldBuffer,
    ids: Uint32Array,
    ordinals: Int32Array,
    docCount: number,
  ): FieldEntry {
    const norms = field.allNorms(docCount);
    const entry: { -readonly [K in keyof FieldEntry]: FieldEntry[K] } = {
      presence: writePresence(file, field.docs.view(), docCount),
    };
    if (ids.length > 0) {
      const withPositions = field.field.type === "text" && field.field.positions;
      const dictionary = new DictionaryWriter(file, norms, withPositions);
      for (let ordinal = 0; ordinal < ids.length; ordinal++) {
        const id = ids[ordinal]!;
        ordinals[id] = ordinal;
        this.#pool.postings(id, withPositions, list);
        dictionary.add(this.#pool.term(id), list);
      }
      entry.terms = dictionary.finish();
    }
    if (norms !== null) entry.norms = file.write(norms);
    const column = field.writeColumn(file, docCount, ordinals);
    if (column !== undefined) entry.column = column;
    return entry;
  }
}
