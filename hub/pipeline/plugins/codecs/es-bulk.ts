/** Codec es_bulk: the bodies of bulk requests, as clients of the search engine send them. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { oneOf, optional, options, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";

const FAILURE_TAG = "_jsonparsefailure";
const ACTIONS = new Set(["index", "create", "update", "delete"]);

interface Action {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export const esBulkCodec = defineCodec({
  name: "es_bulk",
  description: "bodies of bulk requests: a JSON line with the action, and the document",
  options: options({
    target: optional(text("target field for the document; default: its members become fields")),
    ecs_compatibility: oneOf(
      ["disabled", "v1", "v8"],
      "v1 and v8 put what to do under [@metadata][codec][es_bulk]",
      "disabled",
    ),
  }),
  create({ target, ecs_compatibility }) {
    const into = target === undefined || target === "" ? undefined : fieldReference(target);
    const place = fieldReference(
      ecs_compatibility === "disabled" ? "[@metadata]" : "[@metadata][codec][es_bulk]",
    );
    const make = (action: Action, document: Record<string, unknown>, timeMs: number): Event => {
      const event = new Event(into === undefined ? document : {}, timeMs);
      if (into !== undefined) event.set(into, document);
      event.trySet(place, { ...action.values, action: action.name });
      return event;
    };
    return {
      decode(payload, timeMs) {
        const events: Event[] = [];
        let action: Action | undefined;
        for (const line of splitPayload(payload, "\n")) {
          const value = parseEventObject(decodeText(line));
          if (action === undefined) {
            action = value === undefined ? undefined : actionOf(value);
            if (action === undefined) events.push(failure(line, timeMs));
            else if (action.name === "delete") {
              events.push(make(action, {}, timeMs));
              action = undefined;
            }
          } else {
            events.push(value === undefined ? failure(line, timeMs) : make(action, value, timeMs));
            action = undefined;
          }
        }
        if (action !== undefined) events.push(failure(Buffer.from(JSON.stringify(action)), timeMs));
        return events;
      },
      encode(event) {
        const index = event.get(fieldReference("[@metadata][_index]"));
        const action = index === undefined ? {} : { _index: valueText(index) };
        return Buffer.from(`${JSON.stringify({ index: action })}\n${event.toJson()}\n`);
      },
    };
  },
});

function actionOf(value: Record<string, unknown>): Action | undefined {
  const [name = "", values] = Object.entries(value)[0] ?? [];
  return ACTIONS.has(name) && isHash(values) ? { name, values } : undefined;
}

function failure(line: Uint8Array, timeMs: number): Event {
  const event = new Event({ message: decodeText(line) }, timeMs);
  event.tag(FAILURE_TAG);
  return event;
}
