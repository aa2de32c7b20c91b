/** Codec gzip_lines: a payload is lines packed by gzip, each the message of an event. */

import { gzipSync } from "node:zlib";
import { MAX_PAYLOAD_EVENTS, unpackPayload } from "#hub/pipeline/formats/gzip-payload.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { Event } from "#proto/event.ts";
import { options } from "#proto/kit/options.ts";
import { lineCodec, splitPayload } from "./line.ts";
import { charsetOption, plainCodec, toUtf8 } from "./plain.ts";

const FAILURE_TAG = "_gzipparsefailure";

/** Longest line, as inputs that read streams have it; of a longer one each part is an event with a tag. Bytes. */
const MAX_LINE_BYTES = 1024 * 1024;
const CUT_TAG = "line_cut";

export const gzipLinesCodec = defineCodec({
  name: "gzip_lines",
  description: "lines of text, packed by gzip or not",
  options: options({ charset: charsetOption }),
  create({ charset }) {
    const utf8 = toUtf8(charset);
    const plain = plainCodec.create({ charset: "UTF-8" });
    const lines = lineCodec.create({ charset, delimiter: "\n" });
    return {
      decode(payload, timeMs) {
        const unpacked = unpackPayload(payload);
        const events: Event[] = [];
        let { fault } = unpacked;
        for (const line of splitPayload(utf8(unpacked.bytes), "\n", MAX_PAYLOAD_EVENTS + 1)) {
          if (events.length >= MAX_PAYLOAD_EVENTS) {
            fault = `it has more than ${MAX_PAYLOAD_EVENTS} lines`;
            break;
          }
          for (let at = 0; at < line.length; at += MAX_LINE_BYTES) {
            const [event] = plain.decode(line.subarray(at, at + MAX_LINE_BYTES), timeMs);
            if (line.length > MAX_LINE_BYTES) event!.tag(CUT_TAG);
            events.push(event!);
          }
        }
        if (fault === undefined) return events;
        const failure = new Event(
          { error: { message: `the payload can't be read as a whole: ${fault}` } },
          timeMs,
        );
        failure.tag(FAILURE_TAG);
        return [...events, failure];
      },
      encode: (event) => gzipSync(lines.encode(event)),
    };
  },
});
