/** Makes texts valid for XML: log lines may contain any character, XML may not. */

/** What no XML document can hold: control characters, and halves of a pair that a cut left. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Returns the text with a replacement character for each that XML forbids. */
export function xmlText(text: string): string {
  return text.replaceAll(FORBIDDEN, "\uFFFD");
}
