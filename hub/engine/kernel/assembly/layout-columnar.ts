/**
 * Offsets of what the making of columnar blocks shares with TypeScript; see layout.ts. All but the kinds are growing
 * buffers.
 */

/** The consecutive documents; where each ends, u32; the block. */
export const COLUMNAR_INPUT = 0;
export const COLUMNAR_ENDS = 16;
export const COLUMNAR_OUT = 32;
/** Values of all documents: address of the first byte and of the one after the last. */
export const COLUMNAR_VALUES = 48;
/** Per document: its first value, its shape. */
export const COLUMNAR_FIRSTS = 64;
export const COLUMNAR_SHAPE_OF = 80;
/** See SHAPE_… */
export const COLUMNAR_SHAPES = 96;
/** Documents by shape. */
export const COLUMNAR_DOCS = 112;
/** Values of the shape at hand, column by column. */
export const COLUMNAR_COLUMNS = 128;
/** Columns that texts may refer to, and those that may become templates with their bytes. */
export const COLUMNAR_WRITTEN = 144;
export const COLUMNAR_LONG = 160;
/**
 * Of the column at hand: table of values, or of templates while texts are cut, number of each (i64), first row of each number,
 * numbers it consists of (i64).
 */
export const COLUMNAR_SLOTS = 176;
export const COLUMNAR_IDS = 192;
export const COLUMNAR_DISTINCT = 208;
export const COLUMNAR_NUMBERS = 224;
/** Of the texts at hand: templates (TEMPLATE_…), their parts, the template of each row, its first variable, all variables. */
export const COLUMNAR_TEMPLATES = 240;
export const COLUMNAR_PARTS = 256;
export const COLUMNAR_FOUND = 272;
export const COLUMNAR_ROW_VARIABLES = 288;
export const COLUMNAR_VARIABLES = 304;
/** Columns that texts are compared with, and the next one of each with the same first byte. */
export const COLUMNAR_CANDIDATES = 320;
export const COLUMNAR_NEXTS = 336;
/** Rows by template; one variable of these. */
export const COLUMNAR_ROWS = 352;
export const COLUMNAR_VARIABLE = 368;
/** What each byte is (KIND_…, u8), and the first candidate by first byte (1 + index, u32). */
export const COLUMNAR_KINDS = 384;
export const COLUMNAR_HEADS = 640;
/** First bytes of the candidates: byte l has bit h where there is one of low half l and high half h, or h + 8. */
export const COLUMNAR_FIRST_BYTES = 1664;
export const COLUMNAR_BYTES = 1680;

/** A value: address of the first byte and of the one after the last. */
export const VALUE_BYTES = 8;
