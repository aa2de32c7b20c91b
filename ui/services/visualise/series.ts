/** An answer as rows of numbers: one series for each split, one value in it for each group. */

import { csvLine } from "#ui/services/text/csv.ts";
import { formatTime } from "#ui/services/text/format.ts";
import type { Visualisation } from "./visualisation.ts";

/** A group on the axis. */
export interface Group {
  /** ms for times, the step's start, or the value itself. */
  readonly key: number | string;
  readonly label: string;
}

export interface Series {
  readonly name: string;
  /** By group; undefined where there is nothing to measure. */
  readonly values: readonly (number | undefined)[];
}

export interface ChartData {
  readonly isTime: boolean;
  /** Times are of UTC, not of the browser's zone. */
  readonly isUtc: boolean;
  readonly groups: readonly Group[];
  readonly series: readonly Series[];
  /** The metric over all documents; undefined where there is none. */
  readonly total: number | undefined;
}

interface MetricAnswer {
  readonly value?: number | null;
  readonly values?: Readonly<Record<string, number | string | null>>;
}

/** A bucket of an answer, or the whole of it. */
export interface BucketAnswer {
  readonly key: number | string;
  readonly key_as_string?: string;
  readonly doc_count: number;
  readonly metric?: MetricAnswer;
  readonly by?: { readonly buckets: readonly BucketAnswer[] };
  readonly split?: { readonly buckets: readonly BucketAnswer[] };
}

/** The parts of a search's answer that are read. */
export interface VisualisationAnswer {
  readonly hits: { readonly total: number | { readonly value: number } };
  readonly aggregations?: Omit<BucketAnswer, "key" | "doc_count">;
}

/** Returns the numbers of an answer to `visualisationRequest`; `name` is the only series' name without a split. */
export function readSeries(
  shown: Visualisation,
  answer: VisualisationAnswer,
  name: string,
  isUtc: boolean,
): ChartData {
  const { by } = shown;
  const isCount = shown.metric.kind === "count";
  const whole: BucketAnswer = { ...answer.aggregations, key: name, doc_count: totalOf(answer) };
  const label = (bucket: BucketAnswer): string =>
    by.kind === "time" ? timeLabel(Number(bucket.key), isUtc) : nameOf(bucket);
  const table = new NumberTable(label);
  const isOutside = by.kind === "terms";
  if (isOutside)
    for (const group of whole.by?.buckets ?? [])
      for (const split of group.split?.buckets ?? [{ ...group, key: name, key_as_string: name }])
        table.put(group, nameOf(split), measure(split, isCount));
  else
    for (const split of whole.split?.buckets ?? [whole])
      for (const group of by.kind === "none"
        ? [{ ...split, key: name, key_as_string: name }]
        : (split.by?.buckets ?? []))
        table.put(group, nameOf(split), measure(group, isCount));
  const isOrdered = by.kind === "time" || by.kind === "steps";
  return { isTime: by.kind === "time", isUtc, ...table.read(isOrdered), total: measure(whole, isCount) };
}

/** Cells by group and series, in the order they came. */
class NumberTable {
  readonly #label: (bucket: BucketAnswer) => string;
  readonly #groups = new Map<number | string, Group>();
  readonly #series = new Map<string, Map<number | string, number | undefined>>();

  constructor(label: (bucket: BucketAnswer) => string) {
    this.#label = label;
  }

  put(group: BucketAnswer, series: string, value: number | undefined): void {
    if (!this.#groups.has(group.key))
      this.#groups.set(group.key, { key: group.key, label: this.#label(group) });
    let values = this.#series.get(series);
    if (values === undefined) this.#series.set(series, (values = new Map()));
    values.set(group.key, value);
  }

  read(isOrdered: boolean): Pick<ChartData, "groups" | "series"> {
    const groups = [...this.#groups.values()];
    if (isOrdered) groups.sort((a, b) => Number(a.key) - Number(b.key));
    const series = [...this.#series].map(([name, values]) => ({
      name,
      values: groups.map(({ key }) => values.get(key)),
    }));
    return { groups, series };
  }
}

function nameOf({ key, key_as_string }: BucketAnswer): string {
  const text = key_as_string ?? String(key);
  return text === "" ? "(empty)" : text;
}

function timeLabel(atMs: number, isUtc: boolean): string {
  return formatTime(atMs, isUtc).slice(0, 19);
}

/** Returns the number of lines found. */
export function totalOf({ hits: { total } }: VisualisationAnswer): number {
  return typeof total === "number" ? total : total.value;
}

/** Returns what was measured of a bucket, or undefined where there was nothing to measure. */
export function measure({ doc_count, metric }: BucketAnswer, isCount: boolean): number | undefined {
  if (isCount) return doc_count;
  const value = metric?.value ?? Object.values(metric?.values ?? {})[0];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Returns the sum of each group over all series, for shares of a whole. */
export function groupSums({ groups, series }: Pick<ChartData, "groups" | "series">): number[] {
  return groups.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
}

/** Returns the numbers as lines of CSV, groups down, series across. */
export function toCsv({ groups, series }: ChartData): string {
  const head = ["", ...series.map(({ name }) => name)];
  const rows = groups.map(({ label }, at) => [
    label,
    ...series.map(({ values }) => String(values[at] ?? "")),
  ]);
  return [head, ...rows].map(csvLine).join("");
}

/**
 * Returns about `count` round numbers that cover 0 (or `min` below it) to `max`; the last one is ≥ max. `minStep` is 1
 * where there is nothing between whole numbers.
 */
export function niceTicks(min: number, max: number, count: number, minStep = 0): number[] {
  const low = Math.min(0, min);
  const high = Math.max(max, low + Number.EPSILON, low === 0 && max <= 0 ? 1 : max);
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const step = Math.max(minStep, minStep === 1 ? Math.ceil(round) : round);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** Returns numbers of groups to label, so that each label has `width` px of `total`. */
export function labelledGroups(groups: number, totalPx: number, labelPx: number): number[] {
  if (groups === 0) return [];
  const fits = Math.max(1, Math.floor(totalPx / labelPx));
  const every = Math.max(1, Math.ceil(groups / fits));
  return Array.from({ length: Math.ceil(groups / every) }, (_, index) => index * every);
}

/** Returns a text of at most `length` characters, its middle left out: both ends of an address tell something. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = Math.ceil((length - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`;
}
