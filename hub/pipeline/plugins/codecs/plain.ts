/** Codec plain: a payload is one event's message. */

import { charsetOption, toUtf8 } from "#hub/pipeline/formats/charset.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { optional, options, text } from "#proto/kit/options.ts";

export const plainCodec = defineCodec({
  name: "plain",
  description: "text as it is",
  options: options({
    format: optional(text("what an event is written as; without it its message")),
    charset: charsetOption,
  }),
  create({ format, charset }) {
    const utf8 = toUtf8(charset);
    const write = compileFormat(format ?? "%{message}");
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
