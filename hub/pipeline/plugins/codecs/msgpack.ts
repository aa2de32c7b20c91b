/** Codec msgpack: events as MessagePack objects (https://github.com/msgpack/msgpack/blob/master/spec.md). */

import { ExtData, encode } from "@msgpack/msgpack";
import { encodeJson } from "#hub/pipeline/formats/message-pack.ts";
import { isRawJson } from "#proto/codec/json.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { optional, options, text } from "#proto/kit/options.ts";
import { defineCodec } from "../codec.ts";
import { decodeMessagePack, MessagePackReader, type MessagePackReading } from "./message-pack-reader.ts";

const FAILURE_TAG = "_msgpackparsefailure";

/** Deepest nesting of values that is read. */
const MAX_DEPTH = 64;

const DECODING = {
  useBigInt64: true,
  mapKeyConverter: (key: unknown) => (key === null ? "null" : valueText(key)),
};

export const msgpackCodec = defineCodec({
  name: "msgpack",
  description: "MessagePack objects, one after another",
  options: options({
    format: optional(text("text to write for an event, a format; default: the whole event")),
    target: optional(text("target field for the object; default: its members become fields")),
  }),
  create({ format, target }) {
    const into = target === undefined || target === "" ? undefined : fieldReference(target);
    const write = format === undefined ? undefined : compileFormat(format);
    const make = (value: unknown, timeMs: number): Event => {
      if (into === undefined && isHash(value)) return new Event(value, timeMs);
      const event = new Event(into === undefined ? { message: valueText(value) } : {}, timeMs);
      if (into !== undefined) event.set(into, value);
      return event;
    };
    const reading: MessagePackReading = {
      decoding: DECODING,
      eventsOf: (value, timeMs) => [make(plainValue(value, 0), timeMs)],
      failureTag: FAILURE_TAG,
    };
    return {
      decode: (payload, timeMs) => decodeMessagePack(reading, payload, timeMs),
      stream: () => new MessagePackReader(reading),
      encode: (event) => (write === undefined ? encodeJson(event.toJson()) : encode(write(event))),
    };
  },
});

/**
 * Returns a decoded value as a value of JSON: a time as ISO 8601, bytes as text, an extension's bytes in base64, an integer
 * that a number can't hold as text. Throws RangeError for values nested too deep.
 */
function plainValue(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new RangeError("values are nested too deeply");
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof ExtData) {
    const data = typeof value.data === "function" ? value.data(0) : value.data;
    return Buffer.from(data).toString("base64");
  }
  if (Array.isArray(value)) return value.map((item: unknown) => plainValue(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item, depth + 1)]));
}
