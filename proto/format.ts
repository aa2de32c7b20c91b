/** Formats: text with `%{field}`, `%{[a][b]}`, `%{+yyyy.MM.dd}`, `%{+%s}`, `%{{yyyy-MM-dd}}` and `%{{TIME_NOW}}` in it. */

import { JAVA, JODA } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { type Event, valueText } from "./event.ts";
import { fieldReference, isFieldReference } from "./field-reference.ts";

/** A compiled format. */
export interface Format {
  /** Returns the text for an event. A field that is missing leaves its `%{field}` unchanged. */
  (event: Event): string;
  /** True where the text is the same for every event. */
  readonly isConstant: boolean;
  /** Names of the fields it reads. */
  readonly fields: readonly string[];
}

type Part = (event: Event) => string;

/** Compiles a format. Throws settings_invalid for an invalid time pattern. */
export function compileFormat(text: string): Format {
  const parts: Part[] = [];
  const fields: string[] = [];
  let literal = "";
  let isConstant = true;
  let at = 0;
  const flush = (): void => {
    const constant = literal;
    if (constant !== "") parts.push(() => constant);
    literal = "";
  };
  while (at < text.length) {
    const open = text.indexOf("%{", at);
    const close = open < 0 ? -1 : text.indexOf("}", open);
    if (close < 0) break;
    literal += text.slice(at, open);
    const isJava = text.startsWith("%{{", open);
    const end = isJava ? text.indexOf("}}", open) + 2 : close + 1;
    const whole = text.slice(open, Math.max(end, close + 1));
    const part = isJava && end > 1 ? javaPart(text.slice(open + 3, end - 2)) : fieldPart(whole, fields);
    if (part === undefined) {
      literal += whole;
    } else {
      flush();
      parts.push(part);
      isConstant = false;
    }
    at = open + whole.length;
  }
  literal += text.slice(at);
  flush();
  return Object.assign(joined(parts), { isConstant, fields });
}

function joined(parts: readonly Part[]): Part {
  const [first, second] = parts;
  if (first === undefined) return () => "";
  if (second === undefined) return (event) => first(event);
  return (event) => {
    let text = "";
    for (const part of parts) text += part(event);
    return text;
  };
}

function javaPart(pattern: string): Part {
  if (pattern === "TIME_NOW") return () => new Date().toISOString();
  const format = compilePrinter(pattern, JAVA);
  return (event) => format(event.timeMs);
}

/** `whole`: "%{…}". Returns undefined if it isn't a reference and is kept literally. */
function fieldPart(whole: string, fields: string[]): Part | undefined {
  const inner = whole.slice(2, -1);
  if (inner === "+%s") return (event) => String(Math.floor(event.timeMs / 1000));
  if (inner.startsWith("+")) {
    const format = compilePrinter(inner.slice(1), JODA);
    return (event) => format(event.timeMs);
  }
  if (!isFieldReference(inner)) return undefined;
  const reference = fieldReference(inner);
  fields.push(inner);
  return (event) => {
    const value = event.get(reference);
    return value === undefined || value === null ? whole : valueText(value);
  };
}
