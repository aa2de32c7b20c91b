/** What hits show of their documents: parts of the source, columns with formats, scripts. */

import { ABSENT, difference, near } from "./comparing.ts";
import { comparison, type Item, type Json, numbersOf, valuesOf } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import { numberScript } from "./scripts.ts";
import type { SearchedIndex } from "./searched-index.ts";

const MOST_HITS = 50;
/** Patterns that name fields, objects, parts of names, and nothing. */
const PATTERNS = ["u", "k*", "*k", "p", "p.k", "p.*", "o.n", "o", "*.n", "d", "none", "t"] as const;

export async function sources(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const includes = dice.some(PATTERNS, dice.below(4));
  const excludes = dice.some(PATTERNS, dice.below(3));
  const body: Json = { query, size: MOST_HITS, sort: [{ u: "asc" }], _source: { includes, excludes } };
  const { hits } = await index.search(body);
  const expected = firstHits(subject, fits).map((item) => ({
    _id: item.id,
    _source: JSON.stringify(filtered(item.root, includes, excludes)),
  }));
  const found = hits.hits.map(({ _id, _source }) => ({ _id, _source: JSON.stringify(_source) }));
  return faultText(difference(expected, found, "hits"), body);
}

function firstHits({ items }: Subject, fits: (item: Item) => boolean): Item[] {
  const matches = items.filter(fits);
  return matches.sort((a, b) => numbersOf(a, "u")[0]! - numbersOf(b, "u")[0]!).slice(0, MOST_HITS);
}

/**
 * Returns the fields that an include names, or whose object it names, without those that an exclude does. An object that an include
 * names stays if nothing of it is left; in a list such objects are left out.
 */
function filtered(source: Json, includes: readonly string[], excludes: readonly string[]): unknown {
  const visit = (value: unknown, path: string): unknown => {
    const isWanted = includes.length === 0 || includes.some((pattern) => names(pattern, path));
    if (isWanted && !excludes.some((pattern) => mayNameBelow(pattern, path))) return value;
    if (Array.isArray(value)) {
      const shown = value
        .map((each) => visit(each, path))
        .filter((each) => each !== undefined && !isEmpty(each));
      return shown.length > 0 || isWanted ? shown : undefined;
    }
    if (value === null || typeof value !== "object") return isWanted ? value : undefined;
    const kept: Json = {};
    for (const [name, each] of Object.entries(value)) {
      const below = path === "" ? name : `${path}.${name}`;
      const shown = excludes.some((pattern) => names(pattern, below)) ? undefined : visit(each, below);
      if (shown !== undefined) kept[name] = shown;
    }
    return isEmpty(kept) && !isWanted && path !== "" ? undefined : kept;
  };
  return visit(source, "");
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Whether a pattern names a path or one above it. */
function names(pattern: string, path: string): boolean {
  return new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}(\\..*)?$`).test(path);
}

/** Whether a pattern may name a path below another: a star names dots as well. */
function mayNameBelow(pattern: string, path: string): boolean {
  const [start = ""] = pattern.split("*");
  const above = path === "" ? "" : `${path}.`;
  return start.startsWith(above) || (pattern.includes("*") && above.startsWith(start));
}

export async function columns(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  // Of a field with several formats one alone.
  const shown = [...new Map(dice.some(COLUMNS, 4).map((column) => [column.field, column])).values()];
  const script = numberScript(subject);
  const body: Json = {
    query,
    size: MOST_HITS,
    sort: [{ u: "asc" }],
    _source: false,
    docvalue_fields: shown.map(({ field, format }) => ({ field, format })),
    script_fields: { script: { script: { source: script.source } } },
  };
  const { hits } = await index.search(body);
  const expected = firstHits(subject, fits).map((item) => ({
    _id: item.id,
    fields: {
      ...Object.fromEntries(shown.map(({ field, print }) => [field, printedColumn(item, field, print)])),
      script: [near(script.of(item))],
    },
  }));
  return faultText(difference(expected, hits.hits, "hits"), body);
}

interface Column {
  readonly field: string;
  readonly format: string;
  readonly print: (value: never) => unknown;
}

const isoTime = (value: number): string => new Date(value).toISOString();
const COLUMNS: readonly Column[] = [
  { field: "n", format: "use_field_mapping", print: (value: number) => value },
  { field: "m", format: "000000", print: (value: number) => String(value).padStart(6, "0") },
  { field: "d", format: "use_field_mapping", print: (value: number) => value },
  { field: "b", format: "use_field_mapping", print: (value: number) => value === 1 },
  { field: "ip", format: "use_field_mapping", print: (value: string) => value },
  { field: "ks", format: "use_field_mapping", print: (value: string) => value },
  { field: "at", format: "use_field_mapping", print: isoTime },
  { field: "at", format: "epoch_millis", print: (value: number) => String(value) },
  {
    field: "at",
    format: "yyyy/MM/dd HH:mm",
    print: (value: number) => isoTime(value).slice(0, 16).replaceAll("-", "/").replace("T", " "),
  },
];

function printedColumn(item: Item, field: string, print: (value: never) => unknown): unknown {
  const values = valuesOf(item, field).sort(comparison(field));
  return values.length === 0 ? ABSENT : values.map((value) => print(value as never));
}
