/** Codec fluent: messages of the Forward protocol without its handshake and acknowledgements, as Fluentd's loggers send them. */

import { ExtData } from "@msgpack/msgpack";
import {
  EntryReader,
  FORWARD_DECODING,
  type ForwardEntry,
  isText,
  noMessage,
  textOf,
  withPackedBytes,
} from "#hub/pipeline/formats/forward-entries.ts";
import { encodeJson, ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { Event, isHash, Timestamp, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, optional, options, text } from "#proto/kit/options.ts";
import { decodeMessagePack, MessagePackReader, type MessagePackReading } from "./message-pack-reader.ts";

const FAILURE_TAG = "_fluentparsefailure";

/** Tag of what is written of an event without tags. */
const DEFAULT_TAG = "log";

export const fluentCodec = defineCodec({
  name: "fluent",
  description: "messages of Fluentd's loggers; the input forward also acknowledges and unpacks them",
  options: options({
    nanosecond_precision: flag("writes times with nanoseconds; they are read in either form", false),
    target: optional(text("target field for a record; default: its members become fields")),
  }),
  create({ nanosecond_precision, target }) {
    const into = target === undefined || target === "" ? undefined : fieldReference(target);
    const reading: MessagePackReading = {
      decoding: FORWARD_DECODING,
      finish: withPackedBytes,
      eventsOf: (value, timeMs) => eventsOf(value, timeMs, into),
      failureTag: FAILURE_TAG,
    };
    return {
      decode: (payload, timeMs) => decodeMessagePack(reading, payload, timeMs),
      stream: () => new MessagePackReader(reading),
      encode: (event) =>
        encodeJson(event.toJson(), (record) => [
          tagOf(event),
          nanosecond_precision ? eventTime(event.timeMs) : Math.floor(event.timeMs / 1000),
          record,
        ]),
    };
  },
});

/** Returns the events of a message; what is none is one event with a tag. */
function eventsOf(value: unknown, nowMs: number, into: FieldReference | undefined): Event[] {
  try {
    const [tag, entries] = readMessage(value);
    return entries.map((entry) => eventOf(tag, entry, nowMs, into));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const event = new Event({ message: shown(value), error: { message: error.message } }, nowMs);
    event.tag(FAILURE_TAG);
    return [event];
  }
}

/** Reads a message of any mode. Throws parsing. */
function readMessage(value: unknown): [tag: string, entries: readonly ForwardEntry[]] {
  if (!Array.isArray(value) || !isText(value[0])) throw noMessage();
  const [tag, second, third] = value as unknown[];
  const reader = new EntryReader();
  if (Array.isArray(second)) for (const each of second) reader.read(each);
  else if (second instanceof Uint8Array) readPacked(second, third, reader);
  else reader.read([second, third]);
  return [textOf(tag), reader.entries];
}

function readPacked(bytes: Uint8Array, option: unknown, reader: EntryReader): void {
  const compressed = isHash(option) ? option["compressed"] : undefined;
  if (compressed !== undefined && compressed !== null && compressed !== "text")
    throw new AppError("parsing", "packed entries that are compressed are read by the input forward only");
  const stream = new ValueStream(FORWARD_DECODING);
  for (const each of stream.values(bytes)) reader.read(each);
  if (stream.pendingBytes > 0) throw new AppError("parsing", "packed entries end within a value");
}

/** The entry's time counts, whatever its record says. */
function eventOf(
  tag: string,
  { timeMs = Number.NaN, record }: ForwardEntry,
  nowMs: number,
  into: FieldReference | undefined,
): Event {
  const isTimed = !Number.isNaN(timeMs);
  const event = new Event(into === undefined ? record : {}, isTimed ? timeMs : nowMs);
  if (into !== undefined) event.set(into, record);
  else if (isTimed) event.fields["@timestamp"] = new Timestamp(timeMs);
  event.tag(tag);
  return event;
}

function tagOf(event: Event): string {
  const tags = event.fields["tags"];
  if (Array.isArray(tags)) return tags.map(valueText).join(".") || DEFAULT_TAG;
  return valueText(tags) || DEFAULT_TAG;
}

/** Seconds and nanoseconds, each with 32 bits. */
function eventTime(timeMs: number): ExtData {
  const bytes = Buffer.alloc(8);
  const seconds = Math.floor(timeMs / 1000);
  bytes.writeUInt32BE(Math.min(Math.max(seconds, 0), 0xffffffff), 0);
  bytes.writeUInt32BE((timeMs - seconds * 1000) * 1e6, 4);
  return new ExtData(0, bytes);
}

/** Returns a value as a text; numbers with 64 bits in decimal. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "bigint" ? each.toString() : each instanceof Uint8Array ? textOf(each) : each,
  );
}
