/** Payloads that may be packed by gzip (RFC 1952), as logs in object stores are. */

import { constants, gunzipSync } from "node:zlib";

/** Longest payload, unpacked. Bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

export interface UnpackedPayload {
  /** As far as it could be unpacked. */
  readonly bytes: Uint8Array;
  /** Why the rest is missing; undefined: nothing is. */
  readonly fault?: string;
}

/** Returns a packed payload unpacked, another as it is. */
export function unpackPayload(payload: Uint8Array): UnpackedPayload {
  if (payload[0] !== 0x1f || payload[1] !== 0x8b) return { bytes: payload };
  const limit = { maxOutputLength: MAX_BYTES };
  try {
    return { bytes: gunzipSync(payload, limit) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE")
      return { bytes: new Uint8Array(), fault: `unpacked it has more than ${MAX_BYTES} bytes` };
    return { bytes: beforeEnd(payload, limit), fault: `it is no whole gzip (${code})` };
  }
}

/** Returns what a payload without its end unpacks to; nothing of one that is damaged. */
function beforeEnd(payload: Uint8Array, limit: { readonly maxOutputLength: number }): Uint8Array {
  try {
    return gunzipSync(payload, { ...limit, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array();
  }
}
