/** Output splunk_hec: events to Splunk's HTTP Event Collector (docs.splunk.com, "Format events for HTTP Event Collector"). */

import { defineOutput } from "#hub/pipeline/plugins/output.ts";
import {
  checkPushOptions,
  PUSH_OPTIONS,
  type PushProtocol,
  PushWriter,
} from "#hub/pipeline/plugins/outputs/push/push-writer.ts";
import type { Event } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { oneOf, options, text } from "#proto/kit/options.ts";

/** Metadata of an event, by the name that Splunk and the option have. */
const METADATA = ["host", "source", "sourcetype", "index"] as const;

const OPTIONS = options({
  ...PUSH_OPTIONS,
  host: text("host of the event, a format; omitted without a value, like the next three", "%{[host][name]}"),
  source: text("source of the event, a format", "%{[log][file][path]}"),
  sourcetype: text("source type of the event, a format", "_json"),
  index: text("index of Splunk, a format; empty: the token's own", ""),
  event: oneOf(["json", "message"], "json: the whole event; message: its message, if it has one", "json"),
});

export const splunkHecOutput = defineOutput({
  name: "splunk_hec",
  description: "sends events to Splunk's HTTP Event Collector; after a crash the last ones may be duplicated",
  options: OPTIONS,
  create(values, context) {
    checkPushOptions(values, context);
    const metadata = METADATA.map((name) => ({
      name,
      format: values[name],
      write: compileFormat(values[name]),
    }));
    const text = values.event === "message" ? messageOf : (event: Event): string => event.toJson();
    return {
      shape(event) {
        const members = [`"time":${event.timeMs / 1000}`];
        for (const { name, format, write } of metadata) {
          const value = write(event);
          if (value !== "" && !(value === format && format.includes("%{")))
            members.push(`"${name}":${JSON.stringify(value)}`);
        }
        members.push(`"event":${text(event)}`);
        return { target: "", body: Buffer.from(`{${members.join(",")}}\n`) };
      },
    };
  },
  writer: (values, context) => new PushWriter(values, context, SPLUNK),
});

/** Returns JSON. Splunk refuses an event without text, so one whose message is empty is sent whole. */
function messageOf(event: Event): string {
  const { message } = event.fields;
  return typeof message === "string" && message !== "" ? JSON.stringify(message) : event.toJson();
}

const SPLUNK: PushProtocol = {
  path: "/services/collector/event",
  contentType: "application/json",
  tokenScheme: "Splunk",
  headersOf: () => ({}),
  body: (records) => Buffer.concat(records.map(({ body }) => body)),
};
