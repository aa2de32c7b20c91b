/** Texts of JSON (RFC 8259): decodes escapes, and UTF-8 to strings. */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;

/** A mark of byte order is a character like any other: without this it would be dropped. */
const TEXT = new TextDecoder("utf-8", { ignoreBOM: true });

/** What follows a backslash (by character code), as the byte it stands for. */
export const ESCAPES: Readonly<Record<number, number>> = {
  [QUOTE]: QUOTE,
  [BACKSLASH]: BACKSLASH,
  47: 0x2f,
  98: 8,
  102: 12,
  110: 10,
  114: 13,
  116: 9,
};

/** Value of a hexadecimal digit; -1 for other bytes. */
export function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Short strings are decoded faster one by one than by a TextDecoder. */
const SHORT_BYTES = 24;

/** Returns the text of UTF-8 bytes; ill-formed ones become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > SHORT_BYTES) return TEXT.decode(bytes.subarray(from, to));
  let text = "";
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80) return TEXT.decode(bytes.subarray(from, to));
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Returns the text of a JSON string's content with its escapes resolved. */
export function unescapeJson(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  let done = from;
  for (let at = from; at < to; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    text += decodeUtf8(bytes, done, at);
    const letter = bytes[at + 1]!;
    if (letter === 0x75) {
      let unit = 0;
      for (let digit = at + 2; digit < at + 6; digit++) unit = unit * 16 + hexValue(bytes[digit]!);
      text += String.fromCharCode(unit);
      at += 5;
    } else {
      text += String.fromCharCode(ESCAPES[letter]!);
      at++;
    }
    done = at + 1;
  }
  return text + decodeUtf8(bytes, done, to);
}
