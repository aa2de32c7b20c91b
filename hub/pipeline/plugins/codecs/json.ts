/** Codecs json and json_lines: a payload, or each line of it, is an event as JSON. */

import { type Codec, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { parseEventJson } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { number, optional, options, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";
import { charsetOption, plainCodec, toUtf8 } from "./plain.ts";

/** Tag of events whose payload isn't JSON; it is their message then. */
const FAILURE_TAG = "_jsonparsefailure";

const COMMON = {
  charset: charsetOption,
  target: optional(text("target field for the object; default: its members become fields")),
};

export const jsonCodec = defineCodec({
  name: "json",
  description: "one JSON object, or a list of them",
  options: options(COMMON),
  create: ({ target, charset }) => jsonReader(target, charset),
});

export const jsonLinesCodec = defineCodec({
  name: "json_lines",
  description: "one JSON object per line",
  options: options({
    ...COMMON,
    delimiter: text("delimiter of lines", "\n"),
    decode_size_limit_bytes: number("maximum length of a line from stream inputs, bytes", 512 * 1024 * 1024),
  }),
  create({ target, delimiter, charset }) {
    const json = jsonReader(target, "UTF-8");
    const utf8 = toUtf8(charset);
    return {
      decode: (payload, timeMs) =>
        splitPayload(utf8(payload), delimiter).flatMap((line) => json.decode(line, timeMs)),
      encode: (event) => Buffer.from(event.toJson() + delimiter),
    };
  },
});

function jsonReader(target: string | undefined, charset: string): Codec {
  const utf8 = toUtf8(charset);
  const into = target === undefined || target === "" ? undefined : fieldReference(target);
  const plain = plainCodec.create({ charset: "UTF-8" });
  return {
    decode(bytes, timeMs) {
      const payload = utf8(bytes);
      const text = decodeText(payload);
      if (text.trim() === "") return [];
      const value = parseEventJson(text);
      const items = Array.isArray(value) ? value : [value];
      if (!items.every(isHash)) {
        const failed = plain.decode(payload, timeMs);
        for (const event of failed) event.tag(FAILURE_TAG);
        return failed;
      }
      return items.map((item) => {
        if (into === undefined) return new Event(item, timeMs);
        const event = new Event({}, timeMs);
        event.set(into, item);
        return event;
      });
    },
    encode: (event) => Buffer.from(event.toJson()),
  };
}
