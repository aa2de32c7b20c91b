/** Codec plain: a line's bytes as text. */

import { isUtf8 } from "node:buffer";

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const ENCODER = new TextEncoder();

/** Tag of events whose text had bytes that aren't UTF-8; each faulty sequence became U+FFFD. */
export const INVALID_UTF8_TAG = "invalid_utf8";

/** Returns the text of `bytes`; invalid UTF-8 becomes U+FFFD (WHATWG Encoding, "maximal subpart"). */
export function decodeText(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

/** Returns `bytes` where they are valid UTF-8, else a copy with U+FFFD for each faulty sequence. */
export function toValidUtf8(bytes: Uint8Array): Uint8Array {
  return isUtf8(bytes) ? bytes : ENCODER.encode(DECODER.decode(bytes));
}
