/** Codec rubydebug: events laid out for people. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { isRawJson } from "#proto/codec/json.ts";
import { type Event, isHash, Timestamp, valueText } from "#proto/event.ts";
import { flag, options } from "#proto/kit/options.ts";
import { plainCodec } from "./plain.ts";

/** Blanks per level. */
const INDENT = 4;

export const rubydebugCodec = defineCodec({
  name: "rubydebug",
  description: "writes events in a readable layout; reads text",
  options: options({ metadata: flag("includes @metadata", false) }),
  create: ({ metadata }) => ({
    ...plainCodec.create({ charset: "UTF-8" }),
    encode: (event) => Buffer.from(`${layOut(shown(event, metadata), 0)}\n`),
  }),
});

function shown(event: Event, metadata: boolean): Record<string, unknown> {
  return metadata && Object.keys(event.metadata).length > 0
    ? { ...event.fields, "@metadata": event.metadata }
    : event.fields;
}

function layOut(value: unknown, depth: number): string {
  const outer = " ".repeat(depth * INDENT);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    const width = String(value.length - 1).length;
    const items = value.map(
      (item, index) =>
        `${outer}${" ".repeat(INDENT)}[${String(index).padStart(width)}] ${layOut(item, depth + 1)}`,
    );
    return `[\n${items.join(",\n")}\n${outer}]`;
  }
  if (isHash(value)) {
    const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
    if (names.length === 0) return "{}";
    const width = Math.max(...names.map((name) => JSON.stringify(name).length));
    const members = names.map(
      (name) =>
        `${outer}${" ".repeat(INDENT)}${JSON.stringify(name).padStart(width)} => ${layOut(value[name], depth + 1)}`,
    );
    return `{\n${members.join(",\n")}\n${outer}}`;
  }
  if (value instanceof Timestamp || isRawJson(value)) return valueText(value);
  return value === null || value === undefined ? "nil" : JSON.stringify(value);
}
