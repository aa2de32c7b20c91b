/** An answer as a table: documents of a search, groups of an aggregation, tokens, rows of a list. */

import { valueText } from "#ui/services/search/log-document.ts";

export interface AnswerTable {
  readonly columns: readonly string[];
  /** Texts by column; "" if a row has no such value. */
  readonly rows: readonly (readonly string[])[];
  /** Numbers of the columns whose values all are numbers, or texts of digits as `_cat` gives. */
  readonly numeric: ReadonlySet<number>;
  /** Rows and columns that were left out. */
  readonly more: { readonly rows: number; readonly columns: number };
}

type Row = ReadonlyMap<string, unknown>;
type Body = Readonly<Record<string, unknown>>;

const MAX_ROWS = 1_000;
const MAX_COLUMNS = 60;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Returns the table of an answer's JSON; undefined if it holds no rows. */
export function answerTable(text: string): AnswerTable | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const rows = rowsOf(value);
  return rows.length === 0 ? undefined : tableOf(rows);
}

function rowsOf(value: unknown): Row[] {
  if (Array.isArray(value)) return value.filter(isBody).map((row) => flatten(row));
  if (!isBody(value)) return [];
  const hits = isBody(value["hits"]) ? value["hits"]["hits"] : value["docs"];
  if (Array.isArray(hits) && hits.length > 0) return hits.filter(isBody).map(hitRow);
  const { tokens } = value;
  if (Array.isArray(tokens)) return tokens.filter(isBody).map((token) => flatten(token));
  const aggregations = value["aggregations"];
  return isBody(aggregations) ? bucketRows(aggregations) : [];
}

function hitRow(hit: Body): Row {
  const row = new Map<string, unknown>([
    ["_index", hit["_index"]],
    ["_id", hit["_id"]],
  ]);
  if (typeof hit["_score"] === "number") row.set("_score", hit["_score"]);
  for (const part of [hit["_source"], hit["fields"]])
    if (isBody(part)) for (const [name, value] of flatten(part)) row.set(name, value);
  return row;
}

/** The first aggregation with groups; below each its numbers, and its own groups as rows of their own. */
function bucketRows(aggregations: Body): Row[] {
  for (const [name, aggregation] of Object.entries(aggregations)) {
    if (!isBody(aggregation) || aggregation["buckets"] === undefined) continue;
    return bucketsOf(aggregation).flatMap((bucket) => {
      const own = new Map<string, unknown>([[name, bucket["key_as_string"] ?? bucket["key"]]]);
      const below = bucketRows(bucket);
      own.set("doc_count", bucket["doc_count"]);
      for (const [metric, value] of Object.entries(bucket))
        if (isBody(value) && value["buckets"] === undefined)
          for (const [part, number] of flatten(value))
            own.set(part === "value" ? metric : `${metric}.${part}`, number);
      if (below.length === 0) return [own];
      own.delete("doc_count");
      return below.map((row) => new Map([...own, ...row]));
    });
  }
  return [];
}

/** Named groups are an object. */
function bucketsOf({ buckets }: Body): Body[] {
  if (Array.isArray(buckets)) return buckets.filter(isBody);
  return Object.entries(buckets as Body).flatMap(([key, bucket]) =>
    isBody(bucket) ? [{ key, ...bucket }] : [],
  );
}

function flatten(value: Body, prefix = ""): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, part] of Object.entries(value))
    if (isBody(part)) for (const [key, inner] of flatten(part, `${prefix}${name}.`)) found.set(key, inner);
    else found.set(`${prefix}${name}`, part);
  return found;
}

/** Columns in the order of their appearance; beyond the limit the rarest ones are left out. */
function tableOf(all: readonly Row[]): AnswerTable {
  const shown = all.slice(0, MAX_ROWS);
  const counts = new Map<string, number>();
  for (const row of shown) for (const name of row.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const kept = new Set(
    [...counts]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, MAX_COLUMNS)
      .map(([name]) => name),
  );
  const columns = [...counts.keys()].filter((name) => kept.has(name));
  const rows = shown.map((row) => columns.map((name) => (row.has(name) ? valueText(row.get(name)) : "")));
  const numeric = new Set([...columns.keys()].filter((at) => isNumeric(rows.map((row) => row[at]!))));
  return {
    columns,
    rows,
    numeric,
    more: { rows: all.length - shown.length, columns: counts.size - columns.length },
  };
}

/** Returns whether texts are numbers, apart from those that are empty; false if all are. */
function isNumeric(texts: readonly string[]): boolean {
  const known = texts.filter((text) => text !== "");
  return known.length > 0 && known.every((text) => NUMBER.test(text));
}

function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
