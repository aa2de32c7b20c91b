/** Completions at the cursor of a query: fields, values of a field, operators. */

import { msg } from "@lit/localize";
import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";
import { formatCount } from "#ui/services/text/format.ts";
import type { Field, FieldCatalogue, TopValue } from "./fields.ts";

export interface Suggestion {
  /** The text that replaces the word at the cursor. */
  readonly text: string;
  readonly detail: string;
}

/** The word at the cursor. */
export interface QueryWord {
  readonly from: number;
  readonly to: number;
  /** Before its colon; undefined if it has none. */
  readonly field: string | undefined;
  /** What is written of the name or the value, without its opening quote. */
  readonly begun: string;
}

const MAX_SUGGESTIONS = 10;
const OPERATORS: readonly Suggestion[] = [
  { text: "AND ", detail: msg("both sides") },
  { text: "OR ", detail: msg("one of both sides") },
  { text: "NOT ", detail: msg("without what follows") },
];
/** Values that need no quotes. */
const PLAIN = /^[\p{L}\p{N}_.@-]+$/u;

/** Returns the word that ends at the cursor. */
export function wordAt(query: string, caret: number): QueryWord {
  const before = query.slice(0, caret);
  const word = /(?:[^\s()":]+:)?(?:"[^"]*|[^\s()"]*)$/.exec(before)?.[0] ?? "";
  const from = caret - word.length;
  const signs = /^[-+!]*/.exec(word)![0].length;
  const colon = word.indexOf(":");
  const rest = /^[^\s()"]*/.exec(query.slice(caret))![0].length;
  if (colon < 0) return { from: from + signs, to: caret + rest, field: undefined, begun: word.slice(signs) };
  const value = word.slice(colon + 1).replace(/^(?:>=|<=|>|<)/, "");
  const begun = value.replace(/^"/, "");
  return { from: caret - value.length, to: caret + rest, field: word.slice(signs, colon), begun };
}

/** Returns what a word that isn't a value may become: fields by name, and operators after another word. */
export function suggestNames(query: string, word: QueryWord, fields: FieldCatalogue): Suggestion[] {
  const begun = word.begun.toLowerCase();
  const found = [...fields.values()]
    .filter(({ name }) => name.toLowerCase().includes(begun))
    .toSorted((a, b) => rank(a, begun) - rank(b, begun));
  const names = found.map(({ name, type }) => ({ text: `${name}:`, detail: type }));
  const isBehind =
    /[\w")\]]\s+$/.test(query.slice(0, word.from)) &&
    !/(?:^|\s)(?:AND|OR|NOT)\s+$/.test(query.slice(0, word.from));
  const operators = isBehind
    ? OPERATORS.filter(({ text }) => text.toLowerCase().startsWith(begun) && text.trim() !== word.begun)
    : [];
  return [...operators, ...names].slice(0, MAX_SUGGESTIONS);
}

/** Returns what a value may become, the most frequent first. */
export function suggestValues({ begun }: QueryWord, values: readonly TopValue[]): Suggestion[] {
  const text = begun.toLowerCase();
  return values
    .filter(({ value }) => value.toLowerCase().startsWith(text) && value !== begun)
    .map(({ value, count }) => ({ text: `${written(value)} `, detail: formatCount(count) }))
    .slice(0, MAX_SUGGESTIONS);
}

/** Returns a value as a query takes it. */
export function written(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}

function rank({ name }: Field, begun: string): number {
  const lower = name.toLowerCase();
  return lower.startsWith(begun) ? 0 : lower.includes(`.${begun}`) ? 1 : 2;
}

const NAME = "queries";
const MAX_QUERIES = 15;
/** A longer one is found in other ways. */
const MAX_LENGTH = 1_000;

/** Returns them, the newest first. */
export function recentQueries(): readonly string[] {
  try {
    const known: unknown = JSON.parse(readPreference(NAME) ?? "[]");
    return Array.isArray(known) ? known.filter((one) => typeof one === "string").slice(0, MAX_QUERIES) : [];
  } catch {
    // Something else wrote there: they start again.
    return [];
  }
}

/** Puts a query first. */
export function rememberQuery(query: string): void {
  if (query === "" || query.length > MAX_LENGTH) return;
  const others = recentQueries().filter((one) => one !== query);
  writePreference(NAME, JSON.stringify([query, ...others].slice(0, MAX_QUERIES)));
}
