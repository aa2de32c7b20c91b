/**
 * Offsets of what kernel and TypeScript share, in bytes, within structures in the kernel's memory. Read by both
 * compilers, so it holds untyped constants only. All numbers are little-endian u32 unless said otherwise.
 */

/** A growing run of bytes: address, bytes in use, bytes reserved. */
export const BUFFER_AT = 0;
export const BUFFER_LENGTH = 4;
export const BUFFER_CAPACITY = 8;
export const BUFFER_BYTES = 16;

/** Bytes after the capacity of a buffer that may be read, and written by copies: whole words and vectors are moved. */
export const SLACK_BYTES = 64;

/** Terms of one segment buffer: three growing buffers, then numbers. */
export const POOL_TABLE = 0;
export const POOL_TERMS = 16;
/** Texts that are too long for their records. */
export const POOL_TEXT = 32;
/** Slots of the table less one. */
export const POOL_MASK = 48;
export const POOL_TERM_COUNT = 52;
export const POOL_BYTES = 64;

/** One slot of the table: hash, id + 1 (0: free). */
export const SLOT_BYTES = 8;

/** One term. field << 16 | length of the text in bytes. */
export const TERM_FIELD_LENGTH = 0;
export const TERM_HASH = 4;
/** The text with zeros after it; of a longer one its first bytes and, after eight of them, its offset. */
export const TERM_TEXT = 8;
export const TERM_TEXT_AT = 16;
export const TERM_BYTES = 32;
/** Longest text that is stored in the record. */
export const SHORT_TERM_BYTES = 24;

/** What a segment buffer holds of one field beside its terms. */
export const FIELD_DOCS = 0;
export const FIELD_VALUE_DOCS = 16;
/** f64 each. */
export const FIELD_VALUES = 32;
/** One byte per document. */
export const FIELD_NORMS = 48;
export const FIELD_NUMBER = 64;
/** See FLAG_… */
export const FIELD_FLAGS = 68;
export const FIELD_POSITION_GAP = 72;
/** Document of the last text value + 1, its tokens so far, the position that follows them. */
export const FIELD_TEXT_DOC = 76;
export const FIELD_TEXT_LENGTH = 80;
export const FIELD_NEXT_POSITION = 84;
/** Document recorded last + 1. */
export const FIELD_LAST_DOC = 88;
/** Points: f64 each, beside the latitudes among the values. */
export const FIELD_LONGITUDES = 96;
/** Ids of the terms, in the order in which they came: of a text's words, or of the values in FIELD_VALUE_DOCS. */
export const FIELD_IDS = 112;
/** Texts: where words that follow each other begin. */
export const FIELD_RUNS = 128;
export const FIELD_BYTES = 144;

/** One run of words at positions that follow each other: document, position of the first, its offset among the ids. */
export const RUN_DOC = 0;
export const RUN_POSITION = 4;
export const RUN_START = 8;
export const TOKEN_RUN_BYTES = 12;

/** Lengths of texts are kept. */
export const FLAG_NORMS = 1;

/** What is made of the sorted terms of a field. */
export const SEAL_BLOCKS = 0;
export const SEAL_INDEX = 16;
export const SEAL_POSTINGS = 32;
/** u32 per term: where its occurrences end; where they begin is the end of the term before. */
export const SEAL_ENDS = 48;
/** Occurrences by term: see OCCURRENCE_BYTES; of a keyword the documents alone, u32 each. */
export const SEAL_OCCURRENCES = 64;
/** Address of the norms of all documents, 0 without. */
export const SEAL_NORMS = 80;
/** What is kept of each occurrence: see KEEP_… */
export const SEAL_KEPT = 84;
/** Bytes of postings that were taken away already. */
export const SEAL_FLUSHED = 88;
export const SEAL_SIZE = 92;
/** f64. */
export const SEAL_TOTAL_TERM_FREQ = 96;
export const SEAL_DOC_FREQ = 104;
/** Address and length of the term before. */
export const SEAL_PREVIOUS = 112;
export const SEAL_PREVIOUS_LENGTH = 116;
/** Bytes of blocks that were taken away already. */
export const SEAL_BLOCKS_FLUSHED = 120;
/** Merges: the text of the term before. */
export const SEAL_TERM = 128;
export const SEAL_BYTES = 144;

/** Documents alone, each once; with frequencies; with positions as well. */
export const KEEP_DOCS = 0;
export const KEEP_FREQS = 1;
export const KEEP_POSITIONS = 2;

/** An occurrence in a text: document, position. */
export const OCCURRENCE_BYTES = 8;

/** Stored bytes by document: packed blocks, where each begins, lengths and bytes of the current block. */
export const STORED_DATA = 0;
export const STORED_INDEX = 16;
export const STORED_LENGTHS = 32;
export const STORED_BLOCK = 48;
/** First document of the current block, and the one that will be added next. */
export const STORED_FIRST_DOC = 64;
export const STORED_NEXT_DOC = 68;
/** Bytes at which a block is closed. */
export const STORED_LIMIT = 72;
export const STORED_BYTES = 80;

/** Begins a block that is packed by LZ4 ("TLZ4"), before the length of what is unpacked; RFC 8878 begins others. */
export const LZ4_MAGIC = 0x345a4c54;
export const LZ4_HEADER_BYTES = 8;

/** What one instance needs for itself: buffers for a decoded term, positions to be written, texts and bit masks. */
export const SCRATCH_DOCS = 0;
export const SCRATCH_FREQS = 16;
export const SCRATCH_POSITIONS = 32;
export const SCRATCH_POSITIONS_OUT = 48;
/** Value at hand in lower case, with space for a vector before it. */
export const SCRATCH_TEXT = 64;
/** Bit masks of the value's words. */
export const SCRATCH_MASKS = 80;
/** A document's bytes. */
export const SCRATCH_INPUT = 96;
/** The values found in it. */
export const SCRATCH_TAPE = 112;
/** A value with its escapes resolved. */
export const SCRATCH_PLAIN = 128;
/** Tables of CRC-32C, 8 KiB. */
export const SCRATCH_CRC = 144;
/** Address of the table of code points, 0 if the host hasn't made it. */
export const SCRATCH_UNICODE = 176;
/** What packing and unpacking gives, and where the packer saw four bytes last. */
export const SCRATCH_PACKED = 192;
export const SCRATCH_MATCHES = 208;
/** What the document that `writeDocuments` stopped at needs. */
export const SCRATCH_STATE = 224;
/** Where the documents of a run are. */
export const SCRATCH_EXTENTS = 240;
/** Where the members of a document's outermost object begin; the same, and the values, of the document before. */
export const SCRATCH_PLACES = 256;
export const SCRATCH_PLACES_BEFORE = 272;
export const SCRATCH_TAPE_BEFORE = 288;
/** Headers of a term's packed blocks, and the blocks. */
export const SCRATCH_HEADERS = 304;
export const SCRATCH_BLOCKS = 320;
export const SCRATCH_BYTES = 336;

/** An offset in a document: bytes from there to its end, bytes on the tape by then. */
export const PLACE_LEFT = 0;
export const PLACE_TAPE = 4;
export const PLACE_BYTES = 8;

/** Slots of the packer's table. */
export const LZ4_SLOTS = 8192;

/** Table of code points: the class of each of the first two planes, then the lower-case letters of the first one, u16. */
export const UNICODE_POINTS = 131072;
export const UNICODE_LOWER = 131072;
export const UNICODE_BYTES = 262144;

/** Longest word of the tokenizer in bytes. */
export const MAX_TOKEN_BYTES = 255;
/** Longest text value that the kernel takes, bytes. */
export const MAX_TEXT_BYTES = 65536;
/** Terms per block of a dictionary, values per packed group, bytes of a block's header. */
export const TERMS_PER_BLOCK = 16;
export const GROUP = 128;
export const BLOCK_HEADER_BYTES = 16;
/** Postings are handed over when they are as long. */
export const FLUSH_BYTES = 262144;

/** Powers of ten, f64: 10^0 to 10^22. */
export const SCRATCH_POWERS = 160;

/** Position in a document's plan. */
export const NODE_KIND = 0;
/** Names of an object: address of the slots, slots less one. */
export const NODE_TABLE = 4;
export const NODE_MASK = 8;
/** Leaf: address of the targets, their number; number of the leaf for the host. */
export const NODE_TARGETS = 12;
export const NODE_TARGET_COUNT = 16;
export const NODE_LEAF = 20;
/** Object: address of the entry of the name that its last document began with. */
export const NODE_GUESS = 24;
export const NODE_BYTES = 28;

/** An object whose unknown names are left to the host. */
export const KIND_OBJECT = 1;
/** An object whose unknown names are passed over. */
export const KIND_CLOSED_OBJECT = 2;
/** Whatever is here is skipped. */
export const KIND_SKIPPED = 3;
export const KIND_LEAF = 4;
/** A leaf whose values are left to the host, null and arrays included. */
export const KIND_HOST_LEAF = 5;
/** A leaf whose only target is a geo_point. */
export const KIND_POINT = 6;

/**
 * One name in an object's table: hash, address and length of the name, address of the node (0: free), address of the
 * entry of the name that followed it last.
 */
export const NAME_HASH = 0;
export const NAME_AT = 4;
export const NAME_LENGTH = 8;
export const NAME_NODE = 12;
export const NAME_GUESS = 16;
export const NAME_BYTES = 20;

/** A field that a leaf's values go to. */
export const TARGET_FIELD = 0;
export const TARGET_TYPE = 4;
/** Keyword: longest value in bytes. */
export const TARGET_LIMIT = 8;
export const TARGET_BYTES = 16;

export const TYPE_TEXT = 1;
export const TYPE_KEYWORD = 2;
export const TYPE_LONG = 3;
export const TYPE_INTEGER = 4;
export const TYPE_SHORT = 5;
export const TYPE_BYTE = 6;
export const TYPE_DOUBLE = 7;
export const TYPE_FLOAT = 8;
export const TYPE_DATE = 9;
export const TYPE_BOOLEAN = 10;

/**
 * A value found in a document: address of the target (of the node if it is left to the host), what to do, its bytes,
 * its number.
 */
export const ENTRY_TARGET = 0;
export const ENTRY_ACTION = 4;
export const ENTRY_START = 8;
export const ENTRY_STOP = 12;
/** f64. */
export const ENTRY_NUMBER = 16;
export const ENTRY_BYTES = 24;

export const ACTION_HOST = 0;
export const ACTION_NUMBER = 1;
export const ACTION_BYTES = 2;
/** Bytes with escapes that stand for ASCII only. */
export const ACTION_ESCAPED = 3;
/** Added to the two above: the text goes beyond ASCII. */
export const ACTION_HIGH = 4;
/** A point: its latitude is the number, its longitude (f64) replaces the bytes. */
export const ACTION_POINT = 8;
/** A keyword that was indexed: the number of its term (u32) replaces the number. */
export const ACTION_TERM = 16;

/** Where a document of many is: offset in the input, length. */
export const EXTENT_BYTES = 8;
/** Larger documents are left to the host, so that the scratch buffers stay small. */
export const MAX_DOCUMENT_BYTES = 262144;

/** The result for a document: all is done, or it is left to the host. */
export const DOCUMENT_DONE = -1;
export const DOCUMENT_REFUSED = -2;

/** Longest keyword, bytes. */
export const MAX_KEYWORD_BYTES = 32766;

/** Documents of a column's block, bytes of a set of them. */
export const COLUMN_DOCS = 1024;
export const MASK_BYTES = 128;

/** Entry of a block in a column's index: see hub/engine/README.md. */
export const COLUMN_DATA_AT = 0;
export const COLUMN_FIRST_VALUE = 4;
/** f64 each. */
export const COLUMN_MIN = 8;
export const COLUMN_MAX = 16;
/** i64, u64 or f64. */
export const COLUMN_BASE = 24;
/** f64. */
export const COLUMN_STEP = 32;
/** u8 each. */
export const COLUMN_MODE = 40;
export const COLUMN_BITS = 41;
export const COLUMN_COUNT_BITS = 42;
export const COLUMN_ENTRY_BYTES = 48;

/** Neighbouring blocks of a column: address of their entries, one more entry after them; number of blocks. */
export const RUN_INDEX = 0;
export const RUN_BLOCKS = 4;
/** Their data: address, bytes, offset of the first byte in the column's data. */
export const RUN_DATA = 8;
export const RUN_DATA_BYTES = 12;
export const RUN_DATA_FROM = 16;
/** Documents of all blocks. */
export const RUN_DOCS = 20;
/** 1 where whole numbers have no sign. */
export const RUN_IS_UNSIGNED = 24;
/** Address of the sets of documents with a value, 32 words a block; 0 if all have one. */
export const RUN_PRESENCE = 28;
/** Space for the numbers of a block, u32, and one more vector; for two sets of documents and a vector. */
export const RUN_NUMBERS = 32;
export const RUN_ROOM = 36;
export const RUN_BYTES = 48;

/** What is summed of the values of one bucket, f64 each: how many, their sum, (nothing,) sum of squares, smallest, largest. */
export const SUM_COUNT = 0;
export const SUM_TOTAL = 8;
export const SUM_SQUARES = 24;
export const SUM_MIN = 32;
export const SUM_MAX = 40;
export const SUM_BYTES = 64;
