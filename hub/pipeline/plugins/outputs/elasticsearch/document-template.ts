/** Documents that an option holds as JSON with formats. */

import { parseEventObject } from "#proto/codec/json.ts";
import { type Event, isHash } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Returns a value of an event; throws NoValue where the event has none. */
type Part = (event: Event) => unknown;

/** A format outside of quotes isn't one JSON value. */
class NoValue extends Error {}

/** Strings of JSON, and formats outside of them; the group is there where a format is the name of a member. */
const STRING_OR_FORMAT = /"(?:[^"\\]|\\.)*"|(?:%\{\{.*?\}\}|%\{.*?\})(\s*:)?/gs;

/**
 * Returns what makes a document of an event; undefined where the template isn't a JSON object with formats. That function
 * returns undefined where it makes none. A format in a string fills the string that holds it, whatever characters the event
 * has; one outside of strings, as in `{"n": %{n}}`, must be one JSON value.
 */
export function compileDocument(template: string): ((event: Event) => JsonObject | undefined) | undefined {
  const formats: string[] = [];
  // A name outside of quotes is left, so that the text isn't JSON.
  const text = template.replace(STRING_OR_FORMAT, (found, colon: string | undefined) =>
    found.startsWith('"') || colon !== undefined
      ? found
      : JSON.stringify(placeholder(formats.push(found) - 1)),
  );
  const value = parseEventObject(`{"document":${text}}`)?.["document"];
  const isFormat = formats.length === 1 && value === placeholder(0);
  if (!isHash(value) && !isFormat) return undefined;
  const document = compileValue(value, new Map(formats.map((format, at) => [placeholder(at), format])));
  return (event) => {
    try {
      const made = document(event);
      return isHash(made) ? made : undefined;
    } catch (error) {
      if (error instanceof NoValue) return undefined;
      throw error;
    }
  };
}

/** Stands in a template for the format of this number; no template has such a text. */
function placeholder(at: number): string {
  return `\0${at}`;
}

function compileValue(value: unknown, formats: ReadonlyMap<string, string>): Part {
  if (typeof value === "string") {
    const format = formats.get(value);
    return format === undefined ? compileFormat(value) : compileJson(format);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => compileValue(item, formats));
    return (event) => items.map((item) => item(event));
  }
  if (!isHash(value)) return () => value;
  const members = Object.entries(value).map(
    ([name, member]) => [compileFormat(name), compileValue(member, formats)] as const,
  );
  return (event) => Object.fromEntries(members.map(([name, member]) => [name(event), member(event)]));
}

/** Returns what reads a format's text as one JSON value: `1, "role": "admin"` is none. */
function compileJson(format: string): Part {
  const text = compileFormat(format);
  return (event) => {
    const read = parseEventObject(`{"value":${text(event)}}`);
    if (read === undefined || Object.keys(read).length !== 1) throw new NoValue(format);
    return read["value"];
  };
}
