/** Codec plain: a payload is one event's message. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { optional, options, text } from "#proto/kit/options.ts";

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

/** What is written of an event without a format; a field that is missing leaves its name. */
export const DEFAULT_FORMAT = "%{@timestamp} %{host} %{message}";

/** The option `format` of codecs that write text. */
export const formatOption = optional(
  text(`text to write for an event, a format; default: ${DEFAULT_FORMAT}`),
);

export const plainCodec = defineCodec({
  name: "plain",
  description: "text, unchanged",
  options: options({
    format: formatOption,
    charset: charsetOption,
  }),
  create({ format, charset }) {
    const utf8 = toUtf8(charset);
    const write = compileFormat(format ?? DEFAULT_FORMAT);
    return {
      decode(payload, timeMs) {
        const bytes = utf8(payload);
        const valid = toValidUtf8(bytes);
        const event = new Event({ message: decodeText(valid) }, timeMs);
        if (valid !== bytes) event.tag(INVALID_UTF8_TAG);
        return [event];
      },
      encode: (event) => Buffer.from(write(event)),
    };
  },
});

/** Returns whether this is a name of UTF-8 or of a part of it. */
export function isUtf8(charset: string): boolean {
  return /^utf-?8$/.test(encodingName(charset));
}

function encodingName(charset: string): string {
  const name = charset.toLowerCase();
  return ALIASES[name] ?? name;
}

/** Returns what makes UTF-8 of bytes in `charset`. Throws settings_invalid. */
export function toUtf8(charset: string): (bytes: Uint8Array) => Uint8Array {
  if (isUtf8(charset)) return (bytes) => bytes;
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encodingName(charset));
  } catch {
    throw new AppError(
      "settings_invalid",
      `there is no encoding "${charset}"; write one like UTF-8 or ISO-8859-1`,
    );
  }
  return (bytes) => Buffer.from(decoder.decode(bytes));
}
