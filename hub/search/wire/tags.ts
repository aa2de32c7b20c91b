/** First bytes of encoded values; README.md has the grammar. */

/** Version of the format, the first byte of a message. */
export const WIRE_VERSION = 1;

/** Bytes before the values: the version, and the offset of the tables. */
export const HEADER_BYTES = 5;

export const Tag = {
  NULL: 0x00,
  UNDEFINED: 0x01,
  FALSE: 0x02,
  TRUE: 0x03,
  INT32: 0x04,
  FLOAT64: 0x05,
  TEXT: 0x06,
  /** Text that is not well-formed Unicode. */
  UTF16: 0x07,
  KNOWN_TEXT: 0x08,
  BIGINT: 0x09,
  LIST: 0x0a,
  NUMBERS: 0x0b,
  BYTES: 0x0c,
  RAW_JSON: 0x0d,
  LATE_BUCKET: 0x0e,
  ERROR: 0x0f,
  OBJECT: 0x10,
  MAP: 0x11,
  /** With the number 0..63 in the low bits. */
  SMALL_INT: 0x40,
  /** With the shape 0..127 in the low bits. */
  SHAPE: 0x80,
} as const;

/** Whole numbers from 0 that are their tag. */
export const SMALL_INTS = 64;

/** Shapes that are their tag. */
export const SMALL_SHAPES = 128;
