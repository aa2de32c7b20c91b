/** Output loki: lines to Loki's push interface (grafana.com/docs/loki, "Ingest logs"). */

import { crc32 } from "node:zlib";
import { defineOutput, type OutputRecord } from "#hub/pipeline/plugins/output.ts";
import {
  checkPushOptions,
  PUSH_OPTIONS,
  type PushProtocol,
  PushWriter,
} from "#hub/pipeline/plugins/outputs/push/push-writer.ts";
import type { Event } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { optional, options, table, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Labels of a stream that Loki takes by default (max_label_names_per_series). */
const MAX_LABELS = 15;

const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** What a header may hold; another one would fail each time that it is sent. */
const HEADER = /^[\t\x20-\x7e\x80-\xff]*$/;

const NS_PER_MS = 1_000_000;

const OPTIONS = options({
  ...PUSH_OPTIONS,
  labels: Type.Record(Type.String(), Type.String(), {
    description: "labels of the event's stream, values as formats; labels without a value are omitted",
    default: { job: "tailrace" },
  }),
  structured_metadata: table(
    "structured metadata of the line, values as formats; supported by Loki from 2.9 on",
  ),
  line: optional(text("the line, a format; default: the message, else the event as JSON")),
  tenant_id: text("tenant, a format; empty: none", ""),
});

export const lokiOutput = defineOutput({
  name: "loki",
  description: "pushes lines to Loki; a repeated line has the same time, by which Loki recognises it",
  options: OPTIONS,
  create(values, context) {
    checkPushOptions(values, context);
    const { labels, structured_metadata } = values;
    for (const name of Object.keys({ ...labels, ...structured_metadata })) {
      if (!LABEL.test(name))
        context.report("error", "labels", `"${name}" can't be a label`, "use letters, digits and _");
    }
    const count = Object.keys(labels).length;
    if (count === 0 || count > MAX_LABELS)
      context.report("error", "labels", `a stream has 1 to ${MAX_LABELS} labels, not ${count}`, "keep few");
    const [labelsOf, metadataOf] = [pairs(labels), pairs(structured_metadata)];
    const line = values.line === undefined ? messageOf : compileFormat(values.line);
    const tenant = compileFormat(values.tenant_id);
    return {
      shape(event) {
        const stream = labelsOf(event);
        if (Object.keys(stream).length === 0) return { refused: "no label of the event has a value" };
        const owner = tenant(event);
        if (!HEADER.test(owner))
          return { refused: `the tenant ${JSON.stringify(owner)} can't be sent as a header` };
        return {
          target: JSON.stringify([owner, stream]),
          body: Buffer.from(JSON.stringify([line(event), metadataOf(event)])),
        };
      },
    };
  },
  writer: (values, context) => new PushWriter(values, context, LOKI),
});

/** Returns what makes the pairs that have a value; a format whose field is absent has none. */
function pairs(formats: Readonly<Record<string, string>>): (event: Event) => Record<string, string> {
  const compiled = Object.entries(formats).map(([name, format]) => ({
    name,
    format,
    write: compileFormat(format),
  }));
  return (event) => {
    const made: Record<string, string> = {};
    for (const { name, format, write } of compiled) {
      const value = write(event);
      if (value !== "" && !(value === format && format.includes("%{"))) made[name] = value;
    }
    return made;
  };
}

function messageOf(event: Event): string {
  const { message } = event.fields;
  return typeof message === "string" ? message : event.toJson();
}

const LOKI: PushProtocol = {
  path: "/loki/api/v1/push",
  contentType: "application/json",
  tokenScheme: "Bearer",
  headersOf(target): Record<string, string> {
    const [tenant] = JSON.parse(target) as [string, unknown];
    return tenant === "" ? {} : { "X-Scope-OrgID": tenant };
  },
  body(records) {
    const streams = [...Map.groupBy(records, ({ target }) => target)].map(([target, some]) => {
      const [, stream] = JSON.parse(target) as [string, Record<string, string>];
      return { stream, values: some.map(entryOf) };
    });
    return Buffer.from(JSON.stringify({ streams }));
  },
};

function entryOf(record: OutputRecord): [time: string, line: string, metadata?: Record<string, string>] {
  const [line, metadata] = JSON.parse(Buffer.from(record.body).toString()) as [
    string,
    Record<string, string>,
  ];
  return Object.keys(metadata).length === 0
    ? [nanoseconds(record), line]
    : [nanoseconds(record), line, metadata];
}

/**
 * Returns the event's time, ns since 1970. The digits below the millisecond are its position in its source: Loki drops
 * a line of the same stream, time and text, so that one pushed again must repeat it and another of the same text must
 * not.
 */
function nanoseconds({ timeMs, place, sourceKey }: OutputRecord): string {
  const below = (place + crc32(sourceKey)) % NS_PER_MS;
  return String(BigInt(Math.floor(timeMs)) * BigInt(NS_PER_MS) + BigInt(below));
}
