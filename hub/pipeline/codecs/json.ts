/** Codecs json and json_lines: a payload, or each line of it, is an event as JSON. */

import { parseJson } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isObject } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { oneOf, optional, options, text } from "../filters/option-types.ts";
import { type Codec, defineCodec } from "./codec.ts";
import { splitPayload } from "./line.ts";
import { plainCodec } from "./plain.ts";

/** Tag of events whose payload is no JSON; it is their message then. */
const FAILURE_TAG = "_jsonparsefailure";

const COMMON = {
  charset: oneOf(["UTF-8"], "encoding of the bytes", "UTF-8"),
  target: optional(text("field that takes the object; without it its members become fields")),
};

export const jsonCodec = defineCodec({
  name: "json",
  description: "one JSON object, or a list of them",
  options: options(COMMON),
  create: ({ target }) => jsonReader(target),
});

export const jsonLinesCodec = defineCodec({
  name: "json_lines",
  description: "a JSON object a line",
  options: options({ ...COMMON, delimiter: text("what ends a line", "\n") }),
  create({ target, delimiter }) {
    const json = jsonReader(target);
    return {
      decode: (payload, timeMs) =>
        splitPayload(payload, delimiter).flatMap((line) => json.decode(line, timeMs)),
      encode: (event) => Buffer.from(event.toJson() + delimiter),
    };
  },
});

function jsonReader(target: string | undefined): Codec {
  const into = target === undefined || target === "" ? undefined : fieldReference(target);
  const plain = plainCodec.create({ charset: "UTF-8" });
  return {
    decode(payload, timeMs) {
      const value = parseJson(decodeText(payload));
      const items = Array.isArray(value) ? value : [value];
      if (items.length === 0 || !items.every(isObject)) {
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
