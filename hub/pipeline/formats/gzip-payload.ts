/** Payloads that may be packed by gzip (RFC 1952), as logs in object stores are. */

import { constants, gunzipSync } from "node:zlib";

/** Longest payload, unpacked: files of CloudTrail have a few MiB. Bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Events of a payload at most: a few packed KiB may unpack to millions of lines. */
export const MAX_PAYLOAD_EVENTS = 50_000;

/** What an event says of a payload that can't be read has so many bytes at most. */
const MAX_SHOWN_BYTES = 64 * 1024;

/** Attempts to find where a damaged payload can't be read any more: of 64 KiB the offset is exact. */
const ATTEMPTS = 16;

export interface UnpackedPayload {
  /** As far as it could be unpacked. */
  readonly bytes: Uint8Array;
  /** Why the rest is missing; undefined: nothing is. */
  readonly fault?: string;
}

/** Returns a packed payload unpacked, another as it is. */
export function unpackPayload(payload: Uint8Array): UnpackedPayload {
  if (payload[0] !== 0x1f || payload[1] !== 0x8b) return { bytes: payload };
  try {
    return { bytes: gunzipSync(payload, { maxOutputLength: MAX_BYTES }) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const fault =
      code === "ERR_BUFFER_TOO_LARGE"
        ? `unpacked it has more than ${MAX_BYTES} bytes`
        : `it isn't a whole gzip (${code})`;
    return { bytes: beforeFault(payload), fault };
  }
}

/** Returns the text of a payload that can't be read, as far as it is shown. */
export function shownPayload(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, MAX_SHOWN_BYTES);
}

/** Returns what can be unpacked before the damage or the limit: of the longest beginning of the payload that unpacks. */
function beforeFault(payload: Uint8Array): Uint8Array {
  let found: Uint8Array = beginning(payload, payload.length) ?? new Uint8Array();
  if (found.length > 0) return found;
  let good = 0;
  let bad = payload.length;
  for (let attempt = 0; attempt < ATTEMPTS && bad - good > 1; attempt++) {
    const middle = (good + bad) >>> 1;
    const unpacked = beginning(payload, middle);
    if (unpacked === undefined) bad = middle;
    else [good, found] = [middle, unpacked];
  }
  return found;
}

/** Returns what the first bytes unpack to; undefined: they are damaged or unpack to too much. */
function beginning(payload: Uint8Array, length: number): Uint8Array | undefined {
  try {
    return gunzipSync(payload.subarray(0, length), {
      maxOutputLength: MAX_BYTES,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
  } catch {
    return undefined;
  }
}
