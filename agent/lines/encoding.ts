/** Text encodings of files: how a line ends in their bytes and how bytes become UTF-8. */

import { settingFault } from "#agent/contract/input.ts";

/** How the text of a file is encoded. */
export interface Encoding {
  readonly name: string;
  /** Bytes of the smallest unit: a line begins at a multiple of it. */
  readonly unitBytes: 1 | 2;
  /** Bytes of UTF-8 that one byte may become. */
  readonly expansion: number;
  /** Encodes ASCII text, such as the line terminator. */
  readonly encode: (ascii: string) => Buffer;
  /** Returns the text as UTF-8; the very same bytes where nothing has to be changed. */
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
