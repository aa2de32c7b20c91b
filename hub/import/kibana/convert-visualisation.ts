/** Converts Kibana's visualisations to those of the hub, which show one number by one grouping, split at most once. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { jsonIn, type KibanaObject, listIn, textOf } from "./exported-objects.ts";

/** Parameters of a visualisation of the hub, without index and query. */
export interface ConvertedChart {
  readonly parameters: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
}

/** Result of a conversion: a chart, a text, or the reason why there is neither. */
export type Converted = ConvertedChart | { readonly text: string } | { readonly reason: string };

const CHARTS: Readonly<Record<string, string>> = {
  line: "line",
  area: "area",
  histogram: "bar",
  horizontal_bar: "bar",
  pie: "pie",
  table: "table",
  metric: "number",
  gauge: "gauge",
  goal: "gauge",
  heatmap: "heat",
  tile_map: "map",
  tagcloud: "bar",
};

const METRICS: Readonly<Record<string, string>> = {
  avg: "avg",
  sum: "sum",
  min: "min",
  max: "max",
  cardinality: "unique",
  median: "p50",
};

const REASONS: Readonly<Record<string, string>> = {
  metrics: "TSVB: make a chart with a formula",
  timelion: "Timelion: make a chart with a formula",
  vega: "Vega draws anything: make a chart by hand",
  input_control_vis: "controls: choose variables of the dashboard",
  region_map: "maps of regions",
  lens: "Lens",
};

/** Percentiles that the hub offers. */
const PERCENTS: readonly number[] = [50, 95, 99];
const MAX_GROUPS = 100;
const MAX_SPLITS = 20;

/** Converts a visualisation. */
export function convertVisualisation({ attributes }: KibanaObject): Converted {
  const state = jsonIn(attributes, "visState");
  const type = String(state["type"]);
  const params = isObject(state["params"]) ? state["params"] : {};
  if (type === "markdown") return { text: textOf(params["markdown"]) ?? "" };
  const chart = CHARTS[type];
  if (chart === undefined) return { reason: REASONS[type] ?? `charts of type ${type}` };
  const aggs = listIn(state, "aggs").filter(({ enabled }) => enabled !== false);
  const leftOut: string[] = [];
  if (type === "tagcloud") leftOut.push("the cloud: it is a bar chart");
  const metric = metricOf(aggs.filter(isMetric), leftOut);
  if (metric === undefined) return { reason: `the measure ${String(aggs.find(isMetric)?.["type"])}` };
  const buckets = aggs.filter((agg) => !isMetric(agg));
  const groups = groupsOf(buckets, leftOut);
  if (groups === undefined) return { reason: `groups by ${String(buckets[0]?.["type"])}` };
  return {
    parameters: { ...(chart !== "bar" && { chart }), ...metric, ...placed(chart, groups, leftOut) },
    leftOut,
  };
}

function isMetric({ schema }: JsonObject): boolean {
  return schema === "metric" || schema === "radius";
}

function metricOf(
  [first, ...others]: readonly JsonObject[],
  leftOut: string[],
): Record<string, string> | undefined {
  for (const other of others) leftOut.push(`the measure ${String(other["type"])}`);
  if (first === undefined || first["type"] === "count") return {};
  const params = isObject(first["params"]) ? first["params"] : {};
  const field = params["field"];
  if (typeof field !== "string") return undefined;
  if (first["type"] === "percentiles") {
    const wanted = Array.isArray(params["percents"]) ? params["percents"].map(Number) : [95];
    const percent = PERCENTS.find((each) => wanted.includes(each)) ?? 95;
    if (wanted.length > 1) leftOut.push(`percentiles other than ${percent}`);
    return { metric: `p${percent}:${field}` };
  }
  const kind = METRICS[String(first["type"])];
  return kind === undefined ? undefined : { metric: `${kind}:${field}` };
}

/** A grouping in the form of the page's address. */
interface Group {
  readonly by: string;
  /** Grouping by a field's values: the field and how many values. */
  readonly terms: { readonly field: string; readonly size: number } | undefined;
  readonly isTime: boolean;
}

function groupsOf(buckets: readonly JsonObject[], leftOut: string[]): Group[] | undefined {
  const groups: Group[] = [];
  for (const bucket of buckets) {
    const group = groupOf(bucket);
    if (group !== undefined) groups.push(group);
    else if (groups.length === 0) return undefined;
    else leftOut.push(`groups by ${String(bucket["type"])}`);
  }
  return groups;
}

function groupOf({ type, params }: JsonObject): Group | undefined {
  const { field, size, interval } = isObject(params) ? params : {};
  if (type === "date_histogram") return { by: "time", terms: undefined, isTime: true };
  if (typeof field !== "string") return undefined;
  if (type === "terms" || type === "significant_terms") {
    const count = Math.min(MAX_GROUPS, Math.max(1, Number(size ?? 5)));
    return { by: `terms:${count}:${field}`, terms: { field, size: count }, isTime: false };
  }
  if (type === "histogram")
    return {
      by: `steps:${Number(interval) > 0 ? Number(interval) : 1}:${field}`,
      terms: undefined,
      isTime: false,
    };
  return type === "geohash_grid" ? { by: `places:${field}`, terms: undefined, isTime: false } : undefined;
}

/** Time is on the axis and the values of a field split it, in whichever order they come. */
function placed(chart: string, groups: readonly Group[], leftOut: string[]): Record<string, string> {
  if (groups.length === 0) return chart === "number" || chart === "gauge" ? {} : { by: "none" };
  const main = groups.find(({ isTime }) => isTime) ?? groups[0]!;
  const split = groups.find((group) => group !== main && group.terms !== undefined);
  const more = groups.length - (split === undefined ? 1 : 2);
  if (more > 0) leftOut.push(`${more} of ${groups.length} groupings`);
  return {
    ...(!main.isTime && { by: main.by }),
    ...(split?.terms !== undefined && {
      split: `${Math.min(MAX_SPLITS, split.terms.size)}:${split.terms.field}`,
    }),
  };
}
