/** Structured data of RFC 5424 (§6.3): `[id name="value" …]…`. */

const DASH = 0x2d;

/**
 * RFC 5424 §6.3.2 allows names of 32 bytes; devices write longer ones, and further spaces, as the RFC's own examples do
 * after `=`.
 */
const ELEMENTS = /\[ *([^ =\]"]{1,255})((?: +[^ =\]"]{1,255}= *"(?:[^"\\]|\\.)*")*) *\]/gs;
const PARAMETERS = / +([^ =\]"]{1,255})= *"((?:[^"\\]|\\.)*)"/gs;

/**
 * Returns the elements of RFC 5424 structured data (§6.3) by id, each with its parameters; `text` with its brackets. A
 * parameter that is repeated, as §6.3.3 allows, has a list.
 */
export function parseStructuredData(text: string): Record<string, Record<string, string | string[]>> {
  const elements: [string, Record<string, string | string[]>][] = [];
  for (const [, id = "", rest = ""] of text.matchAll(ELEMENTS)) {
    const parameters = new Map<string, string | string[]>();
    for (const [, name = "", written = ""] of rest.matchAll(PARAMETERS)) {
      const value = written.replace(/\\(["\\\]])/g, "$1");
      const before = parameters.get(name);
      // Copied for each, a list of thousands would take minutes.
      if (Array.isArray(before)) before.push(value);
      else parameters.set(name, before === undefined ? value : [before, value]);
    }
    elements.push([id, Object.fromEntries(parameters)]);
  }
  return Object.fromEntries(elements);
}

/** Returns the offset after `-` or the last element's bracket, or -1. */
export function structuredDataEnd(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] === DASH) return at + 1;
  let offset = at;
  while (offset < end && bytes[offset] === 0x5b) {
    let quoted = false;
    for (offset++; offset < end; offset++) {
      const byte = bytes[offset];
      if (quoted && byte === 0x5c) offset++;
      else if (byte === 0x22) quoted = !quoted;
      else if (byte === 0x5d && !quoted) break;
    }
    if (offset >= end) return -1;
    offset++;
  }
  return offset === at ? -1 : offset;
}
