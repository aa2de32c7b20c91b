/** `kv`: cuts a text into keys and values. */

import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { type ProcessorKind, type ProcessorSettings, readText } from "./processor.ts";
import { expressionOf, within } from "./text-processors.ts";

/** Time of the expressions on one text. */
const EXPRESSION_MS = 1_000;

/** What is made of a value: characters to trim, brackets and quotes to strip. */
interface Trimming {
  readonly key: (text: string) => string;
  readonly value: (text: string) => string;
}

export const kv: ProcessorKind = (settings, { guard }) => {
  const field = settings.text("field");
  const target = settings.optionalText("target_field");
  const ignoreMissing = settings.flag("ignore_missing");
  const prefix = `${target === undefined ? "" : `${target}.`}${settings.text("prefix", "")}`;
  const fields = expressionOf(settings, "field_split");
  const values = expressionOf(settings, "value_split");
  const isWanted = choice(settings);
  const trimming = trimmingOf(settings);
  return (document) => {
    const text = readText(document, { field, target: field, ignoreMissing });
    if (text === undefined) return;
    const parts = within(() => guard.run(fields, text, EXPRESSION_MS, () => partsOf(text, fields)));
    // As String.split() of the original, which drops what is empty at the end.
    while (parts.at(-1) === "") parts.pop();
    for (const part of parts) {
      const match = within(() => guard.exec(values, part, EXPRESSION_MS));
      if (match === null)
        throw new ProcessorFault(`field [${field}] does not contain value_split [${values.source}]`);
      const key = trimming.key(part.slice(0, match.index));
      const value = trimming.value(part.slice(match.index + match[0].length));
      if (isWanted(key)) add(document, prefix + key, value);
    }
  };
};

/** What stands between the matches of `separator`; split() would add what its groups catch. */
function partsOf(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(separator.source, `${separator.flags.replace("g", "")}g`))) {
    if (match[0] === "") continue;
    parts.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return [...parts, text.slice(from)];
}

/** A key that occurs again makes a list. */
function add(document: IngestDocument, path: string, value: string): void {
  const before = document.get(path);
  if (before === undefined || before === null) document.set(path, value);
  else document.set(path, [...(Array.isArray(before) ? (before as unknown[]) : [before]), value]);
}

function choice(settings: ProcessorSettings): (key: string) => boolean {
  const included = new Set(settings.texts("include_keys", []));
  const excluded = new Set(settings.texts("exclude_keys", []));
  return (key) => (included.size === 0 || included.has(key)) && !excluded.has(key);
}

function trimmingOf(settings: ProcessorSettings): Trimming {
  const key = trimmer(settings.optionalText("trim_key"));
  const trim = trimmer(settings.optionalText("trim_value"));
  const strips = settings.flag("strip_brackets");
  return { key, value: (text) => trim(strips ? stripped(text) : text) };
}

function trimmer(characters: string | undefined): (text: string) => string {
  if (characters === undefined) return (text) => text;
  return (text) => {
    let [from, to] = [0, text.length];
    while (from < to && characters.includes(text[from]!)) from++;
    while (to > from && characters.includes(text[to - 1]!)) to--;
    return text.slice(from, to);
  };
}

/** Each end on its own, as the original does. */
const BRACKETS = /^[([<"']|[\])>"']$/g;

function stripped(text: string): string {
  return text.replace(BRACKETS, "");
}
