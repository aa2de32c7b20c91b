/** What a visualisation shows, and how the address writes it: `chart=bar&metric=avg:FIELD&by=terms:10:FIELD&split=5:FIELD`. */

import { msg } from "@lit/localize";
import { DEFAULT_INDEX } from "../discover-state.ts";

export const CHARTS = ["line", "area", "bar", "pie", "table", "number", "heat"] as const;
export type Chart = (typeof CHARTS)[number];

export const METRICS = ["count", "avg", "sum", "min", "max", "unique", "p50", "p95", "p99"] as const;
export type MetricKind = (typeof METRICS)[number];

/** Number of a group; its field is "" with `count`. */
export interface Metric {
  readonly kind: MetricKind;
  readonly field: string;
}

/** How documents are grouped: by time, by a field's most frequent values, by steps of a number, or not. */
export type Grouping =
  | { readonly kind: "none" }
  | { readonly kind: "time" }
  | { readonly kind: "terms"; readonly field: string; readonly size: number }
  | { readonly kind: "steps"; readonly field: string; readonly interval: number };

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
}

/** Values a split or a grouping may have: more can't be told apart. */
export const MAX_GROUPS = 100;
export const MAX_SPLITS = 20;

export const DEFAULT_VISUALISATION: Visualisation = {
  chart: "bar",
  index: DEFAULT_INDEX,
  query: "",
  metric: { kind: "count", field: "" },
  by: { kind: "time" },
  split: undefined,
};

/** Returns the visualisation an address stands for; what it doesn't say, or says wrongly, is the default. */
export function readVisualisation(parameters: URLSearchParams): Visualisation {
  const chart = parameters.get("chart");
  return {
    chart: isChart(chart) ? chart : DEFAULT_VISUALISATION.chart,
    index: parameters.get("index") || DEFAULT_VISUALISATION.index,
    query: parameters.get("q") ?? "",
    metric: readMetric(parameters.get("metric") ?? ""),
    by: readGrouping(parameters.get("by") ?? ""),
    split: readSplit(parameters.get("split") ?? ""),
  };
}

/** Returns the parameters of a visualisation, defaults left out. */
export function writeVisualisation(shown: Visualisation): URLSearchParams {
  const parameters = new URLSearchParams();
  const { chart, index, query, metric, by, split } = shown;
  if (query !== "") parameters.set("q", query);
  if (index !== DEFAULT_INDEX) parameters.set("index", index);
  if (chart !== DEFAULT_VISUALISATION.chart) parameters.set("chart", chart);
  if (metric.kind !== "count") parameters.set("metric", `${metric.kind}:${metric.field}`);
  if (by.kind === "none") parameters.set("by", "none");
  if (by.kind === "terms") parameters.set("by", `terms:${by.size}:${by.field}`);
  if (by.kind === "steps") parameters.set("by", `steps:${by.interval}:${by.field}`);
  if (split !== undefined) parameters.set("split", `${split.size}:${split.field}`);
  return parameters;
}

/** Returns what still has to be chosen before it can be shown, or undefined. */
export function missingChoice({ metric, by, split }: Visualisation): string | undefined {
  if (metric.kind !== "count" && metric.field === "") return msg("Choose the field to measure.");
  if ((by.kind === "terms" || by.kind === "steps") && by.field === "")
    return msg("Choose the field to group by.");
  return split !== undefined && split.field === "" ? msg("Choose the field to split by.") : undefined;
}

/** Returns the metric in words: `Average of http.response.body.bytes`. */
export function metricName({ kind, field }: Metric): string {
  return kind === "count" ? METRIC_NAMES.count : `${METRIC_NAMES[kind]} of ${field}`;
}

export const METRIC_NAMES: Readonly<Record<MetricKind, string>> = {
  count: msg("Number of lines"),
  avg: msg("Average"),
  sum: msg("Sum"),
  min: msg("Smallest"),
  max: msg("Largest"),
  unique: msg("Different values"),
  p50: msg("Median"),
  p95: "95th percentile",
  p99: "99th percentile",
};

function isChart(text: string | null): text is Chart {
  return (CHARTS as readonly (string | null)[]).includes(text);
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
  const match = /^(terms|steps):(\d+(?:\.\d+)?):(.*)$/.exec(text);
  if (match === null) return { kind: "time" };
  const amount = Number(match[2]);
  const field = match[3]!;
  if (match[1] === "steps") return { kind: "steps", field, interval: amount > 0 ? amount : 1 };
  return { kind: "terms", field, size: within(amount, MAX_GROUPS) };
}

function readSplit(text: string): Split | undefined {
  const match = /^(\d+):(.*)$/.exec(text);
  return match === null ? undefined : { size: within(Number(match[1]), MAX_SPLITS), field: match[2]! };
}

function within(size: number, largest: number): number {
  return Math.min(largest, Math.max(1, Math.round(size)));
}
