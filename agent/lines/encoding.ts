/** Text encodings of files: how lines end in their bytes, for each line terminator, and how bytes become UTF-8. */

import { settingFault } from "#agent/contract/input.ts";

/** A line in a buffer: its text, and where the next one begins. */
export interface Line {
  readonly start: number;
  /** Without the terminator. */
  readonly textEnd: number;
  readonly next: number;
  /** False if the bytes end before a terminator. */
  readonly closed: boolean;
}

const NAMED: Readonly<Record<string, string>> = {
  auto: "\n",
  line_feed: "\n",
  carriage_return: "\r",
  carriage_return_line_feed: "\r\n",
  vertical_tab: "\v",
  form_feed: "\f",
  null_terminator: "\0",
};

/** Finds line ends in the bytes of one encoding. */
export class Terminator {
  readonly #bytes: Buffer;
  readonly #carriageReturn: Buffer | null;
  readonly #unitBytes: number;

  /** `name`: one of the settings' names, or the terminator itself. */
  constructor(name: string, encoding: Encoding) {
    this.#bytes = encoding.encode(NAMED[name] ?? name);
    this.#carriageReturn = name === "auto" ? encoding.encode("\r") : null;
    this.#unitBytes = encoding.unitBytes;
  }

  /** Length in bytes. */
  get length(): number {
    return this.#bytes.length;
  }

  /** Returns the line that begins at `start`; the bytes end at `end`. */
  lineAt(buffer: Buffer, start: number, end: number): Line {
    const at = this.#find(buffer, start, end);
    if (at < 0) return { start, textEnd: end, next: end, closed: false };
    return { start, textEnd: this.#textEnd(buffer, start, at), next: at + this.#bytes.length, closed: true };
  }

  /** Returns true if a line ends right before `at`. */
  endsAt(buffer: Buffer, at: number): boolean {
    const from = at - this.#bytes.length;
    return from >= 0 && this.#bytes.compare(buffer, from, at) === 0;
  }

  #find(buffer: Buffer, start: number, end: number): number {
    let at = buffer.indexOf(this.#bytes, start);
    // Two-byte units: "\n" may also be the second half of one character and the first of the next.
    while (at >= 0 && (at - start) % this.#unitBytes !== 0) at = buffer.indexOf(this.#bytes, at + 1);
    return at >= 0 && at + this.#bytes.length <= end ? at : -1;
  }

  #textEnd(buffer: Buffer, start: number, at: number): number {
    const cr = this.#carriageReturn;
    if (cr === null) return at;
    const from = at - cr.length;
    return from >= start && cr.compare(buffer, from, at) === 0 ? from : at;
  }
}

/** The encoding of a file's text. */
export interface Encoding {
  readonly name: string;
  /** Bytes of the smallest unit: a line begins at a multiple of it. */
  readonly unitBytes: 1 | 2;
  /** Bytes of UTF-8 that one byte may become. */
  readonly expansion: number;
  /** Encodes ASCII text, such as the line terminator. */
  readonly encode: (ascii: string) => Buffer;
  /** Returns the text as UTF-8; the same bytes if nothing has to be changed. */
  readonly decode: (bytes: Buffer) => Buffer;
}

/** Bytes that some programs write at the start of a file to mark its encoding. */
export const BYTE_ORDER_MARKS: Readonly<Record<string, Buffer>> = {
  "utf-8": Buffer.of(0xef, 0xbb, 0xbf),
  "utf-16le": Buffer.of(0xff, 0xfe),
  "utf-16be": Buffer.of(0xfe, 0xff),
};

const ASCII = (text: string): Buffer => Buffer.from(text, "latin1");
/** A character of one byte becomes three of UTF-8 at most. */
const WIDEST_EXPANSION = 3;

export const UTF_8: Encoding = {
  name: "utf-8",
  unitBytes: 1,
  expansion: 1,
  encode: ASCII,
  decode: (bytes) => bytes,
};

const UTF_16LE: Encoding = {
  name: "utf-16le",
  unitBytes: 2,
  expansion: 1.5,
  encode: (text) => Buffer.from(text, "utf16le"),
  decode: (bytes) => Buffer.from(bytes.toString("utf16le")),
};

const UTF_16BE: Encoding = {
  name: "utf-16be",
  unitBytes: 2,
  expansion: 1.5,
  encode: (text) => Buffer.from(text, "utf16le").swap16(),
  decode: (bytes) => {
    const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
    return Buffer.from(Buffer.from(even).swap16().toString("utf16le"));
  },
};

const LATIN_1: Encoding = {
  name: "latin1",
  unitBytes: 1,
  expansion: 2,
  encode: ASCII,
  decode: (bytes) => Buffer.from(bytes.toString("latin1")),
};

/** Names that other shippers use, and those that TextDecoder would read as something else. */
const ALIASES: Readonly<Record<string, Encoding | string>> = {
  plain: UTF_8,
  "utf-8": UTF_8,
  utf8: UTF_8,
  "utf-16": UTF_16LE,
  "utf-16-bom": UTF_16LE,
  "utf-16le": UTF_16LE,
  "utf-16le-bom": UTF_16LE,
  "utf-16be": UTF_16BE,
  "utf-16be-bom": UTF_16BE,
  latin1: LATIN_1,
  "iso-8859-1": LATIN_1,
  iso8859_1: LATIN_1,
  cp1252: "windows-1252",
  cp866: "ibm866",
  sjis: "shift_jis",
};

/** Returns the encoding that the setting names. Throws settings_invalid. */
export function encodingOf(name: string): Encoding {
  const known = ALIASES[name.toLowerCase()] ?? name.toLowerCase();
  if (typeof known !== "string") return known;
  if (known === "hz-gb-2312") {
    throw settingFault(
      "encoding",
      `encoding: "${name}" is not supported: its escapes (~{ and ~}) hide line ends; convert the file to utf-8 or gb18030`,
    );
  }
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(known);
  } catch (error) {
    throw settingFault(
      "encoding",
      `encoding: "${name}" is unknown; write for example utf-8, utf-16le, utf-16be, latin1, windows-1252, gbk, gb18030, big5, euc-jp, shift_jis or euc-kr`,
      error,
    );
  }
  return {
    name: known,
    unitBytes: 1,
    expansion: WIDEST_EXPANSION,
    encode: ASCII,
    decode: (bytes) => Buffer.from(decoder.decode(bytes)),
  };
}

/** Returns the encoding and the length of the byte order mark at the start of `head`; `given` and 0 without one. */
export function recogniseMark(head: Buffer, given: Encoding): { encoding: Encoding; markBytes: number } {
  for (const [name, mark] of Object.entries(BYTE_ORDER_MARKS)) {
    if (head.length < mark.length || mark.compare(head, 0, mark.length) !== 0) continue;
    const fits = given.unitBytes === 2 ? name !== "utf-8" : name === "utf-8";
    if (fits) return { encoding: name === "utf-8" ? given : encodingOf(name), markBytes: mark.length };
  }
  return { encoding: given, markBytes: 0 };
}
