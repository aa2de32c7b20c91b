/** Codec msgpack: events as MessagePack objects. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { readMessagePack, writeMessagePack } from "#hub/pipeline/plugins/codecs/msgpack/message-pack.ts";
import { optional, options, text } from "#hub/pipeline/plugins/option-types.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";

const FAILURE_TAG = "_msgpackparsefailure";

export const msgpackCodec = defineCodec({
  name: "msgpack",
  description: "MessagePack objects, one behind the other",
  options: options({
    format: optional(text("text that an event is written as, a format; without it the whole event")),
    target: optional(text("field that takes the object; without it its members become fields")),
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
    return {
      decode(payload, timeMs) {
        const events: Event[] = [];
        try {
          for (const value of readMessagePack(payload)) events.push(make(value, timeMs));
        } catch {
          const event = new Event({ message: Buffer.from(payload).toString("latin1") }, timeMs);
          event.tag(FAILURE_TAG);
          events.push(event);
        }
        return events;
      },
      encode: (event) =>
        write === undefined ? writeMessagePack(JSON.parse(event.toJson())) : writeMessagePack(write(event)),
    };
  },
});
