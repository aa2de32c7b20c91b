/** Codecs combined and common: lines of web servers' access logs as fields. */

import { grokPatterns } from "#hub/pipeline/grok/all.ts";
import { compileGrok } from "#hub/pipeline/grok/grok-expression.ts";
import { type CodecDefinition, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { oneOf, options } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";
import { charsetOption, plainCodec, toUtf8 } from "./plain.ts";

const FAILURE_TAG = "_grokparsefailure";
const TIME = fieldReference("timestamp");
const EVENT_TIME = fieldReference("@timestamp");

const OPTIONS = options({
  charset: charsetOption,
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "disabled names fields clientip, verb, response …, v1 and v8 by the Elastic Common Schema",
    "v8",
  ),
});

export const combinedCodec = accessLogCodec(
  "combined",
  "COMBINEDAPACHELOG",
  "the combined log format: with referrer and user agent",
);
export const commonCodec = accessLogCodec("common", "COMMONAPACHELOG", "the common log format");

function accessLogCodec(name: string, pattern: string, description: string): CodecDefinition<typeof OPTIONS> {
  return defineCodec({
    name,
    description,
    options: OPTIONS,
    create({ charset, ecs_compatibility }) {
      const utf8 = toUtf8(charset);
      const patterns = grokPatterns(ecs_compatibility !== "disabled");
      const expression = compileGrok(`^%{${pattern}}`, { patterns, namedCapturesOnly: true });
      const captures = expression.captureReader();
      const plain = plainCodec.create({ charset: "UTF-8" });
      const readLine = (bytes: Uint8Array, timeMs: number): Event => {
        const [event = new Event({}, timeMs)] = plain.decode(bytes, timeMs);
        const line = decodeText(bytes);
        const match = expression.mayMatch(line) ? expression.expression(line).exec(line) : null;
        if (match === null) {
          event.tag(FAILURE_TAG);
          return event;
        }
        captures.visit(match, (capture, value) => setCapture(event, capture, value));
        takeTime(event);
        return event;
      };
      return {
        ...plain,
        decode: (payload, timeMs) => splitPayload(utf8(payload), "\n").map((line) => readLine(line, timeMs)),
      };
    },
  });
}

function setCapture(event: Event, capture: string, value: string): void {
  const [field = capture, type] = capture.split(/:(?=[a-z]+$)/);
  event.set(fieldReference(field), type === "int" ? Number.parseInt(value, 10) : value);
}

/** 17/May/2015:10:05:03 +0000 */
function takeTime(event: Event): void {
  const text = event.get(TIME);
  const timeMs =
    typeof text === "string" ? Date.parse(text.replace(/^(\d+)\/(\w+)\/(\d+):/, "$1 $2 $3 ")) : Number.NaN;
  if (Number.isNaN(timeMs)) return;
  event.set(EVENT_TIME, new Date(timeMs).toISOString());
  event.remove(TIME);
}
