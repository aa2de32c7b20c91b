/** Documents that an option holds as JSON with formats. */

import { compileValueTemplate, type Part } from "#hub/pipeline/formats/value-template.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { type Event, isHash } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import type { JsonObject } from "#proto/kit/json.ts";

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
  const byPlaceholder = new Map(formats.map((format, at) => [placeholder(at), format]));
  const document = compileValueTemplate<Event>(value, {
    value: (text) => {
      const format = byPlaceholder.get(text);
      return format === undefined ? compileFormat(text) : compileJson(format);
    },
    name: compileFormat,
  });
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

/** Returns what reads a format's text as one JSON value: `1, "role": "admin"` is none. It throws NoValue there. */
function compileJson(format: string): Part<Event> {
  const text = compileFormat(format);
  return (event) => {
    const read = parseEventObject(`{"value":${text(event)}}`);
    if (read === undefined || Object.keys(read).length !== 1) throw new NoValue(format);
    return read["value"];
  };
}
