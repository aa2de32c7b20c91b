/** JSON that is kept in a file with its checksum: the text, a newline, its CRC-32C in 8 hexadecimal digits, a newline. */

import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the content of the file. `json` is on one line. */
export function withChecksum(json: string): string {
  return `${json}\n${checksum(json)}\n`;
}

/**
 * Returns the text of a file. `isChecked`: false for a file of an earlier version, which has no checksum. Throws data_corrupt
 * if a byte differs from what was written.
 */
export function readChecked(bytes: Uint8Array): { readonly json: string; readonly isChecked: boolean } {
  const [json = "", check] = Buffer.from(bytes).toString().split("\n");
  if (check !== undefined && check !== checksum(json))
    throw new AppError("data_corrupt", "the file fails its checksum");
  return { json, isChecked: check !== undefined };
}

function checksum(json: string): string {
  return crc32c(Buffer.from(json)).toString(16).padStart(8, "0");
}
