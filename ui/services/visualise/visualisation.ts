/**
 * The definition of a visualisation, and its form in the address:
 * `chart=bar&metric=avg:FIELD&by=terms:10:FIELD&split=5:FIELD`, with a formula `metric=formula:TEXT`, one a line, with
 * `by=filters:QUERY`, one a line, or `by=ranges:10,100:FIELD`, with the lines that are marked in time `marks=QUERY`,
 * for a map `chart=map&by=places:FIELD&view=ZOOM:LAT:LON&ring=KM:LAT:LON`.
 */

import { msg, str } from "@lit/localize";
import { DEFAULT_INDEX } from "#ui/services/search/discover-state.ts";
import { type ChartLook, DEFAULT_LOOK, readLook, writeLook } from "./chart-look.ts";
import { type Formula, type FormulaFault, parseFormula } from "./formula.ts";
import { type MapView, type Ring, readMapView, readRing, writeMapView, writeRing } from "./map-view.ts";
import { scriptedFault } from "./scripted-fields.ts";

export const CHARTS = ["line", "area", "bar", "pie", "table", "number", "gauge", "heat", "map"] as const;
export type Chart = (typeof CHARTS)[number];

export const METRICS = [
  "count",
  "avg",
  "sum",
  "min",
  "max",
  "unique",
  "p50",
  "p95",
  "p99",
  "formula",
] as const;
export type MetricKind = (typeof METRICS)[number];

/** Number of a group; its field is "" with `count`, the text with `formula`. */
export interface Metric {
  readonly kind: MetricKind;
  readonly field: string;
}

/**
 * How documents are grouped: by time, by a field's most frequent values, by steps of a number, by ranges of it, by queries,
 * by places, or not.
 */
export type Grouping =
  | { readonly kind: "none" }
  | { readonly kind: "time" }
  | { readonly kind: "places"; readonly field: string }
  | { readonly kind: "terms"; readonly field: string; readonly size: number }
  | { readonly kind: "steps"; readonly field: string; readonly interval: number }
  /** `bounds` ascending: from the lowest to the first, between them, from the last on. */
  | { readonly kind: "ranges"; readonly field: string; readonly bounds: readonly number[] }
  | { readonly kind: "filters"; readonly queries: readonly string[] };

/** Each group divided once more by a field's values. */
export interface Split {
  readonly field: string;
  readonly size: number;
}

export interface Visualisation {
  readonly chart: Chart;
  readonly index: string;
  readonly query: string;
  readonly metric: Metric;
  readonly by: Grouping;
  readonly split: Split | undefined;
  /** Of a map; undefined: all places there are. */
  readonly view: MapView | undefined;
  /** Of a map. */
  readonly ring: Ring | undefined;
  readonly look: ChartLook;
  /** Query of the lines that are marked in a chart over time, such as deployments; "": none. */
  readonly marks: string;
  /** Fields that scripts compute, one a line; see scripted-fields.ts. */
  readonly scripts: string;
}

/** Maximum number of values of a split or a grouping: more can't be distinguished. */
export const MAX_GROUPS = 100;
export const MAX_SPLITS = 20;
const MAX_QUERIES = 20;
const MAX_BOUNDS = 20;

export const DEFAULT_VISUALISATION: Visualisation = {
  chart: "bar",
  index: DEFAULT_INDEX,
  query: "",
  metric: { kind: "count", field: "" },
  by: { kind: "time" },
  split: undefined,
  view: undefined,
  ring: undefined,
  look: DEFAULT_LOOK,
  marks: "",
  scripts: "",
};

/** Returns the visualisation that an address describes; missing or invalid parts have their defaults. */
export function readVisualisation(parameters: URLSearchParams): Visualisation {
  const chart = parameters.get("chart");
  return {
    chart: isChart(chart) ? chart : DEFAULT_VISUALISATION.chart,
    index: parameters.get("index") || DEFAULT_VISUALISATION.index,
    query: parameters.get("q") ?? "",
    metric: readMetric(parameters.get("metric") ?? ""),
    by: isMap(chart) ? readPlaces(parameters.get("by") ?? "") : readGrouping(parameters.get("by") ?? ""),
    split: readSplit(parameters.get("split") ?? ""),
    view: isMap(chart) ? readMapView(parameters.get("view") ?? "") : undefined,
    ring: isMap(chart) ? readRing(parameters.get("ring") ?? "") : undefined,
    look: readLook(parameters),
    marks: parameters.get("marks") ?? "",
    scripts: parameters.get("scripts") ?? "",
  };
}

/** Returns the parameters of a visualisation, defaults left out. */
export function writeVisualisation(shown: Visualisation): URLSearchParams {
  const parameters = new URLSearchParams();
  const { chart, index, query, metric, by, split, view, ring, look, marks, scripts } = shown;
  if (query !== "") parameters.set("q", query);
  if (index !== DEFAULT_INDEX) parameters.set("index", index);
  if (chart !== DEFAULT_VISUALISATION.chart) parameters.set("chart", chart);
  if (metric.kind !== "count") parameters.set("metric", `${metric.kind}:${metric.field}`);
  if (by.kind === "none") parameters.set("by", "none");
  if (by.kind === "places") parameters.set("by", `places:${by.field}`);
  if (by.kind === "terms") parameters.set("by", `terms:${by.size}:${by.field}`);
  if (by.kind === "steps") parameters.set("by", `steps:${by.interval}:${by.field}`);
  if (by.kind === "ranges") parameters.set("by", `ranges:${by.bounds.join(",")}:${by.field}`);
  if (by.kind === "filters") parameters.set("by", `filters:${by.queries.join("\n")}`);
  if (marks !== "") parameters.set("marks", marks);
  if (scripts !== "") parameters.set("scripts", scripts);
  if (split !== undefined) parameters.set("split", `${split.size}:${split.field}`);
  if (view !== undefined) parameters.set("view", writeMapView(view));
  if (ring !== undefined) parameters.set("ring", writeRing(ring));
  writeLook(look, parameters);
  return parameters;
}

/**
 * Returns the visualisation as far as its chart shows it: a number has no groups, a ring is cut into the values of its
 * split, or into groups of its own where these aren't times.
 */
export function drawnPart(shown: Visualisation): Visualisation {
  const { chart, by, split } = shown;
  if (chart === "number" || chart === "gauge") return { ...shown, by: { kind: "none" }, split: undefined };
  if (chart !== "pie") return shown;
  return isCutByGroups(shown) || split === undefined
    ? { ...shown, by, split: undefined }
    : { ...shown, by: { kind: "none" } };
}

/** True where a ring's slices are groups of a field rather than the values of its split. */
export function isCutByGroups({ by }: Visualisation): boolean {
  return by.kind === "terms" || by.kind === "steps" || by.kind === "ranges" || by.kind === "filters";
}

/** Returns what still has to be chosen before it can be shown, or undefined. */
export function missingChoice(shown: Visualisation): string | undefined {
  const { chart, metric, by, split, scripts } = drawnPart(shown);
  const scripted = scriptedFault(scripts);
  if (scripted !== undefined) return scripted;
  if (metric.kind === "formula") {
    const fault = formulaFault(metric.field);
    if (fault !== undefined) return fault;
    if (chart === "map") return msg("A map can't show a formula: choose another measure or another chart.");
  } else if (metric.kind !== "count" && metric.field === "") return msg("Choose the field to measure.");
  if (chart === "pie" && !isAdditive(metric))
    return msg("A donut shows parts of a whole: choose the number of lines, a sum, or another chart.");
  if (by.kind === "places" && by.field === "") return msg("Choose the field of places.");
  if ((by.kind === "terms" || by.kind === "steps" || by.kind === "ranges") && by.field === "")
    return msg("Choose the field to group by.");
  if (by.kind === "ranges" && by.bounds.length === 0)
    return msg("Write the bounds of the ranges, such as 100, 500.");
  if (by.kind === "filters" && by.queries.length === 0)
    return msg("Write a query for each group, one a line.");
  return split !== undefined && split.field === "" ? msg("Choose the field to split by.") : undefined;
}

/** Returns what is wrong with a formula, and where. */
function formulaFault(text: string): string | undefined {
  if (text.trim() === "") return msg("Write a formula, such as count(log.level:error) / count().");
  for (const line of formulaLines(text)) {
    const formula: Formula | FormulaFault = parseFormula(line.text);
    if ("fault" in formula) return msg(str`${formula.fault} Character ${formula.column} of the formula.`);
  }
  return undefined;
}

/** A formula of several lines is several measures, each with a name where it begins with one: `errors = count(level:error)`. */
export interface FormulaLine {
  readonly name: string;
  readonly text: string;
}

const MAX_FORMULAS = 6;
const NAMED = /^\s*([\p{L}_][\p{L}\p{N} _-]{0,39}?)\s*=\s*(.+)$/u;

/** Returns the measures of a formula. */
export function formulaLines(text: string): readonly FormulaLine[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, MAX_FORMULAS)
    .map((line) => {
      const [, name, formula] = NAMED.exec(line) ?? [undefined, line.trim(), line];
      return { name: name!, text: formula! };
    });
}

/** Returns true if the numbers of groups may be added: an average of averages has no meaning. */
export function isAdditive({ kind }: Metric): boolean {
  return kind === "count" || kind === "sum";
}

/** Returns the metric in words: `Average of http.response.body.bytes`. */
export function metricName({ kind, field }: Metric): string {
  if (kind === "formula") {
    const names = formulaLines(field).map(({ name }) => name);
    return names.length === 0 ? METRIC_NAMES.formula : names.join(", ");
  }
  return kind === "count" ? METRIC_NAMES.count : msg(str`${METRIC_NAMES[kind]} of ${field}`);
}

export const METRIC_NAMES: Readonly<Record<MetricKind, string>> = {
  count: msg("Number of lines"),
  avg: msg("Average"),
  sum: msg("Sum"),
  min: msg("Minimum"),
  max: msg("Maximum"),
  unique: msg("Unique values"),
  p50: msg("Median"),
  p95: msg("95th percentile"),
  p99: msg("99th percentile"),
  formula: msg("Formula"),
};

function isChart(text: string | null): text is Chart {
  return (CHARTS as readonly (string | null)[]).includes(text);
}

function isMap(chart: string | null): boolean {
  return chart === "map";
}

function readPlaces(text: string): Grouping {
  return { kind: "places", field: /^places:(.*)$/.exec(text)?.[1] ?? "" };
}

function readMetric(text: string): Metric {
  const cut = text.indexOf(":");
  const kind = METRICS.find((one) => one === text.slice(0, cut));
  return kind === undefined || kind === "count"
    ? DEFAULT_VISUALISATION.metric
    : { kind, field: text.slice(cut + 1) };
}

function readGrouping(text: string): Grouping {
  if (text === "none") return { kind: "none" };
  if (text.startsWith("filters:"))
    return { kind: "filters", queries: readQueries(text.slice("filters:".length)) };
  const ranges = /^ranges:([^:]*):(.*)$/.exec(text);
  if (ranges !== null) return { kind: "ranges", field: ranges[2]!, bounds: readBounds(ranges[1]!) };
  const match = /^(terms|steps):(\d+(?:\.\d+)?):(.*)$/.exec(text);
  if (match === null) return { kind: "time" };
  const amount = Number(match[2]);
  const field = match[3]!;
  if (match[1] === "steps") return { kind: "steps", field, interval: amount > 0 ? amount : 1 };
  return { kind: "terms", field, size: within(amount, MAX_GROUPS) };
}

/** Returns the queries of a text, one a line. */
export function readQueries(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ""))].slice(0, MAX_QUERIES);
}

/** Returns the bounds of a text such as `100, 500`, ascending; what isn't a number is left out. */
export function readBounds(text: string): readonly number[] {
  const parts = text.split(/[,\s]+/).filter((part) => part !== "");
  const bounds = [...new Set(parts.map(Number).filter(Number.isFinite))];
  return bounds.slice(0, MAX_BOUNDS).toSorted((a, b) => a - b);
}

function readSplit(text: string): Split | undefined {
  const match = /^(\d+):(.*)$/.exec(text);
  return match === null ? undefined : { size: within(Number(match[1]), MAX_SPLITS), field: match[2]! };
}

function within(size: number, largest: number): number {
  return Math.min(largest, Math.max(1, Math.round(size)));
}
