/** The interface of a segment buffer to the memory of its fields: the kernel's, or in tests the oracle's. */

import type { Token } from "#hub/engine/analysis/parts/token.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { FieldEntry } from "#hub/engine/segment/directory.ts";
import type { StoredBuffer } from "#hub/engine/stored/stored.ts";

/** Most fields of a buffer: term records hold the field's number in 16 bits. */
export const MAX_FIELDS = 65_535;

/** Longest term that an analyzer may make, bytes; longer ones are left out, as in Lucene. */
export const MAX_TEXT_TERM_BYTES = 32_766;

/** Where the values of one field go; documents come in ascending order. */
export interface BufferedField {
  readonly field: Field;
  /** Adds an ASCII text value by the standard analyzer. */
  addAsciiText(doc: number, bytes: Uint8Array, from: number, to: number): void;
  /** Adds a text value that an analyzer has cut. */
  addTokens(doc: number, tokens: Iterable<Token>): void;
  /** Adds the term bytes[from..to) of a keyword or ip field, at most MAX_TERM_BYTES long. */
  addKeyword(doc: number, bytes: Uint8Array, from: number, to: number): void;
  /** Adds a number. */
  addNumber(doc: number, value: number): void;
  /** Adds a whole number beyond 2^53. */
  addExact(doc: number, value: bigint): void;
  /** Adds a point in degrees. */
  addPoint(doc: number, latitude: number, longitude: number): void;
}

/** All fields of a buffer. */
export interface BufferedFields {
  /** Memory held, bytes. */
  readonly sizeBytes: number;
  /** True where memory is so scarce that the buffer should be sealed before more is added. */
  readonly isTight: boolean;
  /** Where values of a field go; undefined when there are too many fields. */
  open(field: Field): BufferedField | undefined;
  /** Holds stored bytes beside the fields, in blocks of `blockBytes`, until the fields are released. */
  stored(blockBytes: number): StoredBuffer;
  /** Writes the fields that some of the `docCount` documents have. Nothing can be added afterwards. */
  seal(file: SegmentFileWriter, docCount: number): Record<string, FieldEntry>;
  /** Gives the memory back. Safe to call twice; nothing else may be called afterwards. */
  release(): void;
}
