/** Codecs edn and edn_lines: tables of Extensible Data Notation, as programs in Clojure log them. */

import { readEdn, writeEdn } from "#hub/pipeline/formats/edn.ts";
import { type Codec, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { optional, options, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";

const FAILURE_TAG = "_ednparsefailure";

const OPTIONS = options({
  target: optional(text("target field for the table; default: its members become fields")),
});

export const ednCodec = defineCodec({
  name: "edn",
  description: "tables of Extensible Data Notation, one after another",
  options: OPTIONS,
  create: ({ target }) => ednReader(target, ""),
});

export const ednLinesCodec = defineCodec({
  name: "edn_lines",
  description: "a table of Extensible Data Notation per line",
  options: OPTIONS,
  create({ target }) {
    const edn = ednReader(target, "\n");
    return {
      decode: (payload, timeMs) => splitPayload(payload, "\n").flatMap((line) => edn.decode(line, timeMs)),
      encode: (event) => edn.encode(event),
    };
  },
});

function ednReader(target: string | undefined, end: string): Codec {
  const into = target === undefined || target === "" ? undefined : fieldReference(target);
  return {
    decode(payload, timeMs) {
      const message = decodeText(payload);
      try {
        const tables = readEdn(message);
        if (tables.length === 0 || !tables.every(isHash)) throw new RangeError("it isn't a table");
        return tables.map((table) => {
          const event = new Event(into === undefined ? table : {}, timeMs);
          if (into !== undefined) event.set(into, table);
          return event;
        });
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const event = new Event({ message, error: { message: error.message } }, timeMs);
        event.tag(FAILURE_TAG);
        return [event];
      }
    },
    encode: (event) =>
      Buffer.from(writeEdn({ ...event.fields, "@timestamp": new Date(event.timeMs).toISOString() }) + end),
  };
}
