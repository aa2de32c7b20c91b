/** Offsets of what a merge of dictionaries shares with TypeScript; see layout.ts. */

/** One input: a window of its dictionary's blocks, one of its postings, the current term. */
export const WALK_BLOCKS = 0;
export const WALK_POSTINGS = 16;
export const WALK_TEXT = 32;
/** The first eight bytes of the current term as a big-endian number, u64. */
export const WALK_PREFIX = 48;
/** Offset of the next entry among the bytes of the window, terms of the window that weren't read. */
export const WALK_AT = 56;
export const WALK_HERE = 60;
/** Terms after the window. */
export const WALK_LEFT = 64;
/** Number of the term after the current one. */
export const WALK_NUMBER = 68;
/** See WALK_ENDED. */
export const WALK_STATE = 72;
/** Where the window of postings begins among all of the dictionary. */
export const WALK_POSTINGS_FROM = 76;
/** Documents of the segment, number of the first one in the merged segment where all of them are live. */
export const WALK_DOCS = 80;
export const WALK_BASE = 84;
/** Address of the new number of each document, u32, NO_DOCUMENT for those left out; 0: all are live. */
export const WALK_MAP = 88;
/** Address of the new numbers of terms, u32, to be filled; 0: nobody asks. */
export const WALK_ORDINALS = 92;
/** Address of one bit for each term that stays though no document is listed for it; 0: none does. */
export const WALK_USED = 96;
/** Of the current term: documents, occurrences, bytes of postings and positions, where the postings begin in the window. */
export const WALK_DOC_FREQ = 100;
export const WALK_TOTAL_FREQ = 104;
export const WALK_POSTINGS_BYTES = 108;
export const WALK_POSITIONS_BYTES = 112;
export const WALK_POSTINGS_AT = 116;
/** Of a term that one document has: offset of the document's number among the bytes of the window. */
export const WALK_INLINE_AT = 120;
export const WALK_BYTES = 128;
/**
 * After all walks: the prefix of each once more (u64), where few lines of the cache have all of them, the highest
 * number for a walk that has ended; then the addresses of the walks at the smallest term (u32).
 */
export const PREFIX_BYTES = 8;
export const LEAST_BYTES = 4;

export const NO_DOCUMENT = 0xffffffff;

/** A walk before its next term, on a term, after its last one. */
export const WALK_WAITS = 0;
export const WALK_STANDS = 1;
export const WALK_ENDED = 2;

/** What mergeTerms returns instead of the number of a walk that needs its next window. */
export const MERGE_DONE = -1;
export const MERGE_PAUSED = -2;
export const MERGE_DAMAGED = -3;
