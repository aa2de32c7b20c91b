/** Documents that an option holds as JSON with formats. */

import { parseEventObject } from "#proto/codec/json.ts";
import { type Event, isHash } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/**
 * Returns what makes a document of an event; undefined where it makes none. In a template that is JSON each format fills the
 * string that holds it, whatever characters the event has. Of others, such as `{"n": %{n}}`, the text with its formats
 * filled in must be a JSON object.
 */
export function compileDocument(template: string): (event: Event) => JsonObject | undefined {
  const document = parseEventObject(template);
  if (document !== undefined) return compileObject(document);
  const format = compileFormat(template);
  return (event) => parseEventObject(format(event));
}

function compileObject(object: JsonObject): (event: Event) => JsonObject {
  const members = Object.entries(object).map(
    ([name, value]) => [compileFormat(name), compileValue(value)] as const,
  );
  return (event) => Object.fromEntries(members.map(([name, value]) => [name(event), value(event)]));
}

function compileValue(value: unknown): (event: Event) => unknown {
  if (typeof value === "string") return compileFormat(value);
  if (Array.isArray(value)) {
    const items = value.map(compileValue);
    return (event) => items.map((item) => item(event));
  }
  return isHash(value) ? compileObject(value) : () => value;
}
