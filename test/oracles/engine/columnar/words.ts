/** What the words of a text are, to find those that vary: letters, digits, underscores and bytes beyond ASCII. */

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;

const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x30 && byte <= 0x39) return DIGIT;
  return byte >= 0x80 || /[A-Za-z_]/.test(String.fromCharCode(byte)) ? LETTER : OTHER;
});

export function isWordByte(byte: number): boolean {
  return KINDS[byte] !== OTHER;
}

/** Whether a word has a digit. */
export function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (KINDS[bytes[at]!] === DIGIT) return true;
  return false;
}

/** End of the word with a digit that begins at `from`; -1 where there is none. */
export function endOfVariable(bytes: Uint8Array, from: number, to: number): number {
  let kinds = 0;
  let at = from;
  for (let kind = 0; at < to && (kind = KINDS[bytes[at]!]!) !== OTHER; at++) kinds |= kind;
  return (kinds & DIGIT) === 0 ? -1 : at;
}
