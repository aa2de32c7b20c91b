/** Encodings of text other than UTF-8. */

import { AppError } from "#proto/kit/errors.ts";
import { text } from "#proto/kit/options.ts";

/** Names that existing pipelines use for encodings that the runtime knows by other ones. */
const ALIASES: Readonly<Record<string, string>> = {
  "ascii-8bit": "windows-1252",
  binary: "windows-1252",
  "us-ascii": "utf-8",
  ascii: "utf-8",
  cp1250: "windows-1250",
  cp1251: "windows-1251",
  cp1252: "windows-1252",
  cp932: "shift_jis",
  "windows-31j": "shift_jis",
  "utf-16": "utf-16le",
};

/** The option; encodings are those of the WHATWG Encoding Standard. */
export const charsetOption = text(
  "encoding of the bytes, e.g. UTF-8, ISO-8859-1, UTF-16LE, Shift_JIS",
  "UTF-8",
);

/** Returns what makes UTF-8 of bytes in `charset`. Throws settings_invalid. */
export function toUtf8(charset: string): (bytes: Uint8Array) => Uint8Array {
  const name = ALIASES[charset.toLowerCase()] ?? charset.toLowerCase();
  if (name === "utf-8" || name === "utf8") return (bytes) => bytes;
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(name);
  } catch {
    throw new AppError(
      "settings_invalid",
      `there is no encoding "${charset}"; write one like UTF-8 or ISO-8859-1`,
    );
  }
  return (bytes) => Buffer.from(decoder.decode(bytes));
}
