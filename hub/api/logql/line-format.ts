/** `line_format` and texts of `label_format`: {{.label}}, {{__line__}} and a few functions. */

import { AppError } from "#proto/kit/errors.ts";
import { type Entry, labelOf } from "./entry.ts";

const FUNCTIONS: Readonly<Record<string, (text: string) => string>> = {
  ToUpper: (text) => text.toUpperCase(),
  ToLower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trim: (text) => text.trim(),
  TrimSpace: (text) => text.trim(),
};

/**
 * Maximum characters of a line or label that a template makes: each template may repeat the result of the one before
 * several times.
 */
const MAX_TEXT = 1_048_576;

/**
 * Compiles a template. Throws request_invalid for functions that aren't supported; the compiled template throws it if its
 * text gets too long.
 */
export function compileLineFormat(template: string): (entry: Entry) => string {
  const parts = template.split(/\{\{-?\s*(.*?)\s*-?\}\}/s);
  const works = parts.map((part, index): ((entry: Entry) => string) =>
    index % 2 === 0 ? () => part : action(part),
  );
  return (entry) => {
    let length = 0;
    const texts = works.map((work) => {
      const text = work(entry);
      length += text.length;
      if (length > MAX_TEXT)
        throw new AppError("request_invalid", `a template makes a text of more than ${MAX_TEXT} characters`);
      return text;
    });
    return texts.join("");
  };
}

function action(text: string): (entry: Entry) => string {
  const [source = "", ...functions] = text.split("|").map((part) => part.trim());
  const works = functions.map((name) => {
    const work = functionOf(name);
    if (work === undefined) throw notOffered(text);
    return work;
  });
  const [, called, label] = /^(?:(\w+)\s+)?\.(\w+)$/.exec(source) ?? [];
  const first = called === undefined ? undefined : functionOf(called);
  if (first !== undefined) works.unshift(first);
  else if (called !== undefined || (label === undefined && source !== "__line__")) throw notOffered(text);
  return (entry) => {
    const value = label === undefined ? entry.line : labelOf(entry, label);
    return works.reduce((at, work) => work(at), value);
  };
}

function functionOf(name: string): ((text: string) => string) | undefined {
  return Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
}

function notOffered(text: string): AppError {
  const names = Object.keys(FUNCTIONS).join(", ");
  return new AppError(
    "request_invalid",
    `stage '| line_format' : the template action {{${text}}} isn't offered: use {{.label}}, {{__line__}} and ${names}`,
  );
}
