/** A formula's search, and its answers as rows of numbers: one search for each offset of its measures. */

import { type Formula, type FormulaFault, type Measure, parseFormula, termValues } from "./formula.ts";
import { measureAggregation, type Surroundings, visualisationRequest } from "./request.ts";
import {
  type BucketAnswer,
  type ChartData,
  measure,
  readSeries,
  type Series,
  type VisualisationAnswer,
} from "./series.ts";
import type { Visualisation } from "./visualisation.ts";

type MetricAnswer = NonNullable<BucketAnswer["metric"]>;

/** A bucket's answer of a measure; of one with a query its lines, and what is measured of them. */
type Own = MetricAnswer & Partial<Pick<BucketAnswer, "doc_count" | "metric">>;

/** True where a text could not be read as a formula. */
export function isFault(formula: Formula | FormulaFault): formula is FormulaFault {
  return "fault" in formula;
}

/** Returns the lengths of time that the formula's measures lie before their groups, ms, ascending. */
export function offsetsOf({ measures }: Formula): number[] {
  return [...new Set(measures.map(({ offsetMs }) => offsetMs))].toSorted((a, b) => a - b);
}

/** Returns the search for the measures of one offset. More values of fields are requested than are shown. */
export function formulaRequest(
  shown: Visualisation,
  formula: Formula,
  around: Surroundings,
  offsetMs: number,
): Readonly<Record<string, unknown>> {
  const measured: Record<string, unknown> = {};
  for (const [at, one] of formula.measures.entries())
    if (one.offsetMs === offsetMs) Object.assign(measured, namedAggregation(one, at));
  const { fromMs, toMs } = around.range;
  const range = { fromMs: fromMs - offsetMs, toMs: toMs - offsetMs };
  return visualisationRequest(shown, { ...around, range, offsetMs }, measured);
}

function namedAggregation(one: Measure, at: number): Record<string, unknown> {
  const inner = measureAggregation(one);
  if (one.query === "") return inner === undefined ? {} : { [`m${at}`]: inner };
  const filter = {
    query_string: { query: one.query, type: "cross_fields", default_operator: "AND", lenient: false },
  };
  return { [`m${at}`]: { filter, ...(inner && { aggs: { metric: inner } }) } };
}

/** Returns what one measure is in a bucket. */
function readerOf({ kind, query }: Measure, at: number): (bucket: BucketAnswer) => number | undefined {
  const isCount = kind === "count";
  return (bucket) => {
    if (query === "" && isCount) return bucket.doc_count;
    const own = (bucket as unknown as Readonly<Record<string, Own | undefined>>)[`m${at}`];
    if (own === undefined) return undefined;
    if (isCount) return own.doc_count;
    const metric = query === "" ? own : own.metric;
    return metric && measure({ key: "", doc_count: 0, metric }, false);
  };
}

/** Returns the numbers of a formula; `answers` by the offsets of `offsetsOf`. Throws where the formula can't be read. */
export function readFormula(
  shown: Visualisation,
  answers: ReadonlyMap<number, VisualisationAnswer>,
  name: string,
  isUtc: boolean,
): ChartData {
  const formula = parseFormula(shown.metric.field);
  if (isFault(formula)) throw new Error(formula.fault);
  const { term, measures } = formula;
  const parts = measures.map((one, at) =>
    readSeries(shown, answers.get(one.offsetMs)!, name, isUtc, readerOf(one, at)),
  );
  const first = parts[measures.findIndex(({ offsetMs }) => offsetMs === 0)]!;
  const places = parts.map((part, at) => groupPlaces(first, part, measures[at]!.offsetMs));
  const series = first.series.map((one): Series => {
    const measured = parts.map((part, at) => {
      const values = part.series.find(({ name: other }) => other === one.name)?.values;
      return places[at]!.map((position) => (position === undefined ? undefined : values?.[position]));
    });
    return { ...one, values: termValues(term, measured, first.groups.length) };
  });
  const [total] = termValues(
    term,
    parts.map((part) => [part.total]),
    1,
  );
  return { ...first, isAdditive: false, series, total };
}

/** Returns the numbers of several measures in one chart: groups of the first, series of all under their names. */
export function joinMeasures(
  parts: readonly { readonly name: string; readonly data: ChartData }[],
): ChartData {
  const [first] = parts;
  if (first === undefined) throw new Error("there is no measure");
  if (parts.length === 1) return first.data;
  const { groups } = first.data;
  const series = parts.flatMap(({ name, data }) => {
    const at = new Map(data.groups.map(({ key }, index) => [key, index]));
    return data.series.map((one) => ({
      ...one,
      name: data.series.length === 1 ? name : `${name}: ${one.name}`,
      values: groups.map(({ key }) => one.values[at.get(key) ?? -1]),
    }));
  });
  return { ...first.data, isAdditive: false, series };
}

/** Returns for each group the index of the other part's group of the same value, or of the time `offsetMs` before it. */
function groupPlaces(first: ChartData, other: ChartData, offsetMs: number): (number | undefined)[] {
  const at = new Map(other.groups.map(({ key }, index) => [key, index]));
  const startsMs = other.groups.map(({ key }) => Number(key));
  return first.groups.map(({ key }, group) => {
    if (!first.isTime) return at.get(key);
    const wantedMs = Number(key) - offsetMs;
    return at.get(wantedMs) ?? nearest(startsMs, wantedMs, stepMs(first, group) / 2);
  });
}

function stepMs({ groups }: ChartData, at: number): number {
  const [from, to] = at + 1 < groups.length ? [at, at + 1] : [at - 1, at];
  return from < 0 ? 0 : Number(groups[to]!.key) - Number(groups[from]!.key);
}

/**
 * Returns the index of the start that is nearest to a time, less than `withinMs` apart. Steps that begin by the clock of a
 * time zone are an hour apart from where they are expected when the clock was changed between; months differ by days.
 */
function nearest(startsMs: readonly number[], wantedMs: number, withinMs: number): number | undefined {
  let found: number | undefined;
  let apartMs = withinMs;
  for (const [at, startMs] of startsMs.entries()) {
    if (Math.abs(startMs - wantedMs) >= apartMs) continue;
    found = at;
    apartMs = Math.abs(startMs - wantedMs);
  }
  return found;
}
