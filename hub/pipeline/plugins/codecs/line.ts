/** Codec line: a payload is lines, each the message of an event. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { compileFormat } from "#proto/format.ts";
import { options, text } from "#proto/kit/options.ts";
import { charsetOption, DEFAULT_FORMAT, formatOption, plainCodec, toUtf8 } from "./plain.ts";

const NEWLINE = 0x0a;

export const lineCodec = defineCodec({
  name: "line",
  description: "lines of text",
  options: options({
    format: formatOption,
    delimiter: text("delimiter of lines", "\n"),
    charset: charsetOption,
  }),
  create({ format, delimiter, charset }) {
    const utf8 = toUtf8(charset);
    const plain = plainCodec.create({ charset: "UTF-8" });
    const write = compileFormat(format ?? DEFAULT_FORMAT);
    return {
      decode: (payload, timeMs) =>
        splitPayload(utf8(payload), delimiter).flatMap((line) => plain.decode(line, timeMs)),
      encode: (event) => Buffer.from(write(event) + delimiter),
    };
  },
});

/**
 * Returns the parts of a payload that aren't empty, the first `most` of them; of a newline's delimiter the carriage return
 * before it goes too.
 */
export function splitPayload(
  payload: Uint8Array,
  delimiter: string,
  most = Number.POSITIVE_INFINITY,
): Uint8Array[] {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  const parts: Uint8Array[] = [];
  // A byte is found without a copy of the delimiter for each line.
  const sought = delimiter === "\n" ? NEWLINE : delimiter;
  const delimiterBytes = Buffer.byteLength(delimiter);
  for (let at = 0; at < bytes.length && parts.length < most; ) {
    // A payload may be newlines alone: a search for each of them would take ten times as long.
    if (bytes[at] === sought) {
      at++;
      continue;
    }
    const found = bytes.indexOf(sought, at);
    const end = found < 0 ? bytes.length : found;
    const cut = delimiter === "\n" && found > at && bytes[end - 1] === 0x0d ? end - 1 : end;
    if (cut > at) parts.push(bytes.subarray(at, cut));
    at = end + delimiterBytes;
  }
  return parts;
}
