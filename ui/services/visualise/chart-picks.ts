/** The meaning of a part of a chart: the query that finds its lines, and the one that excludes them. */

import { written } from "#ui/services/search/query-suggest.ts";
import { rangeName, rangesOf } from "./number-ranges.ts";
import { scriptedFields } from "./scripted-fields.ts";
import type { Group, Series } from "./series.ts";
import type { Visualisation } from "./visualisation.ts";

/** A part of a chart that was chosen: a group, a series, or where both meet. */
export interface ChartPick {
  readonly group: Group | undefined;
  readonly series: Series | undefined;
  /** The lines of this part are to be left out. */
  readonly exclude: boolean;
}

/**
 * Returns the clause of a query that finds the lines of a part, or excludes them; undefined if no clause describes
 * them.
 */
export function pickClause({ by, split }: Visualisation, pick: ChartPick): string | undefined {
  const clauses: string[] = [];
  if (pick.group !== undefined && by.kind === "terms") {
    const { key, part } = pick.group;
    const value = typeof key === "string" ? key : pick.group.label;
    clauses.push(clauseOf(by.field, value, part));
  }
  if (pick.group !== undefined && by.kind === "steps") {
    const from = Number(pick.group.key);
    clauses.push(`${nameOf(by.field)}:[${from} TO ${from + by.interval}}`);
  }
  if (pick.group !== undefined && by.kind === "filters") clauses.push(`(${String(pick.group.key)})`);
  if (pick.group !== undefined && by.kind === "ranges") {
    const range = rangesOf(by.bounds).find((one) => rangeName(one) === pick.group!.key);
    if (range !== undefined)
      clauses.push(
        `${nameOf(by.field)}:[${range.from ?? "*"} TO ${range.to === undefined ? "*]" : `${range.to}}`}`,
      );
  }
  if (pick.series !== undefined && split !== undefined)
    clauses.push(clauseOf(split.field, pick.series.value, pick.series.part));
  const known = clauses.filter((clause) => clause !== "");
  if (known.length === 0 || known.length < clauses.length) return undefined;
  if (!pick.exclude) return known.join(" AND ");
  const [only, ...others] = known;
  if (others.length > 0) return `NOT (${known.join(" AND ")})`;
  return only!.startsWith("NOT ") ? only!.slice(4) : `NOT ${only}`;
}

/**
 * Returns true if the clause of a part has a field that a script of this visualisation computes: no other search has
 * it.
 */
export function isComputedPick({ by, split, scripts }: Visualisation, pick: ChartPick): boolean {
  const names = new Set(scriptedFields(scripts).map(({ name }) => name));
  const isOfGroup = pick.group !== undefined && "field" in by && names.has(by.field);
  return isOfGroup || (pick.series !== undefined && split !== undefined && names.has(split.field));
}

/** Returns a query with one clause more; a clause that is there stays alone. */
export function addClause(query: string, clause: string): string {
  const text = query.trim();
  if (text === "" || text === "*") return clause;
  if (text === clause || text.endsWith(` AND ${clause}`)) return text;
  return /\bOR\b/.test(text) ? `(${text}) AND ${clause}` : `${text} AND ${clause}`;
}

/** "" for more values: nothing names them all. */
function clauseOf(field: string, value: string, part: Group["part"]): string {
  const name = nameOf(field);
  if (part === "others") return "";
  return part === "missing" ? `NOT ${name}:*` : `${name}:${value === "" ? '""' : written(value)}`;
}

function nameOf(field: string): string {
  return field.replaceAll(/[\s:()"\\]/g, "\\$&");
}
