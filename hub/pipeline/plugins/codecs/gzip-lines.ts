/** Codec gzip_lines: a payload is lines packed by gzip, each the message of an event. */

import { gzipSync } from "node:zlib";
import { unpackPayload } from "#hub/pipeline/formats/gzip-payload.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { Event } from "#proto/event.ts";
import { options } from "#proto/kit/options.ts";
import { lineCodec } from "./line.ts";
import { charsetOption } from "./plain.ts";

const FAILURE_TAG = "_gzipparsefailure";

export const gzipLinesCodec = defineCodec({
  name: "gzip_lines",
  description: "lines of text, packed by gzip or not",
  options: options({ charset: charsetOption }),
  create({ charset }) {
    const lines = lineCodec.create({ charset, delimiter: "\n" });
    return {
      decode(payload, timeMs) {
        const { bytes, fault } = unpackPayload(payload);
        const events = lines.decode(bytes, timeMs);
        if (fault === undefined) return events;
        const failure = new Event({ error: { message: `the payload can't be unpacked: ${fault}` } }, timeMs);
        failure.tag(FAILURE_TAG);
        return [...events, failure];
      },
      encode: (event) => gzipSync(lines.encode(event)),
    };
  },
});
