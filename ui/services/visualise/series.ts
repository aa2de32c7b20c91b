/**
 * An answer as rows of numbers: one series for each split, one value in it for each group. Lines without the field are
 * a separate series or group; so are the remaining splits, if their numbers can be summed.
 */

import { msg } from "@lit/localize";
import { levelOf } from "#proto/live.ts";
import { csvLine } from "#ui/services/text/csv.ts";
import { visibleText } from "#ui/services/text/direction.ts";
import { formatTime } from "#ui/services/text/format.ts";
import { rangeName, rangesOf } from "./number-ranges.ts";
import { type Grouping, isAdditive, type Visualisation } from "./visualisation.ts";

/** What lines of a group or a series have in common: a value of the field, no value, or one of those not shown. */
export type Part = "value" | "missing" | "others";

/** A group on the axis. */
export interface Group {
  /** ms for times, the step's start, or the value itself. */
  readonly key: number | string;
  readonly label: string;
  readonly part: Part;
}

export interface Series {
  readonly name: string;
  /** The field's value as a query takes it; "" without one. */
  readonly value: string;
  readonly part: Part;
  /** By group; undefined if there is nothing to measure. */
  readonly values: readonly (number | undefined)[];
}

export interface ChartData {
  readonly isTime: boolean;
  /** Times are of UTC, not of the browser's zone. */
  readonly isUtc: boolean;
  /** Numbers of groups and series may be added. */
  readonly isAdditive: boolean;
  readonly groups: readonly Group[];
  readonly series: readonly Series[];
  /** The metric over all documents; undefined if there is none. */
  readonly total: number | undefined;
}

/** A line that is marked in a chart over time. */
export interface TimeMark {
  readonly atMs: number;
  readonly text: string;
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
  readonly by_missing?: Omit<BucketAnswer, "key">;
  readonly split_missing?: Omit<BucketAnswer, "key">;
}

/** The parts of a search's answer that are read. */
export interface VisualisationAnswer {
  readonly hits: { readonly total: number | { readonly value: number } };
  readonly aggregations?: Omit<BucketAnswer, "key" | "doc_count">;
}

/** What is measured of a bucket; undefined if there is nothing to measure. */
export type ReadBucket = (bucket: BucketAnswer) => number | undefined;

/** Returns the numbers of an answer to `visualisationRequest`; `name` is the only series' name without a split. */
export function readSeries(
  shown: Visualisation,
  answer: VisualisationAnswer,
  name: string,
  isUtc: boolean,
  read: ReadBucket = (bucket) => measure(bucket, shown.metric.kind === "count"),
): ChartData {
  const { by, metric } = shown;
  const whole: BucketAnswer = { ...answer.aggregations, key: name, doc_count: totalOf(answer) };
  const table = new NumberTable(
    by.kind === "time" ? ({ key }) => timeLabel(Number(key), isUtc) : nameOf,
    read,
  );
  const groupsOf = (bucket: BucketAnswer): Found[] =>
    by.kind === "none"
      ? [{ part: "value", bucket: renamed(bucket, name) }]
      : named(partsOf(bucket, "by"), groupNames(by));
  if (by.kind === "terms")
    for (const group of groupsOf(whole))
      for (const split of splitsOf(group.bucket, name)) table.put(group, split, split.bucket);
  else
    for (const split of splitsOf(whole, name))
      for (const group of groupsOf(split.bucket)) table.put(group, split, group.bucket);
  const isSum = isAdditive(metric);
  // Values of a field have their own numbers around those of their splits, times beside them.
  if (isSum && shown.split !== undefined) for (const group of groupsOf(whole)) table.putRest(group);
  const isOrdered = by.kind === "time" || by.kind === "steps";
  const total = read(whole);
  return { isTime: by.kind === "time", isUtc, isAdditive: isSum, ...table.read(isOrdered), total };
}

/** A bucket, and what its lines have in common. */
interface Found {
  readonly part: Part;
  readonly bucket: BucketAnswer;
}

/** Returns the buckets of an aggregation, and the lines without its field as one more where there are any. */
function partsOf(bucket: BucketAnswer, name: "by" | "split"): Found[] {
  const found = (bucket[name]?.buckets ?? []).map((one): Found => ({ part: "value", bucket: one }));
  const missing = bucket[`${name}_missing`];
  if (missing !== undefined && missing.doc_count > 0)
    found.push({ part: "missing", bucket: renamed(missing, missingName()) });
  return found;
}

/** Returns the names of groups that the answer numbers only; none if it names them. */
function groupNames(by: Grouping): readonly string[] {
  if (by.kind === "filters") return by.queries;
  return by.kind === "ranges" ? rangesOf(by.bounds).map(rangeName) : [];
}

function named(found: Found[], names: readonly string[]): Found[] {
  if (names.length === 0) return found;
  return found.map((one, at) =>
    names[at] === undefined ? one : { ...one, bucket: renamed(one.bucket, names[at]) },
  );
}

/** Returns the splits of a bucket; without any the bucket itself. */
function splitsOf(bucket: BucketAnswer, name: string): Found[] {
  return bucket.split === undefined
    ? [{ part: "value", bucket: renamed(bucket, name) }]
    : partsOf(bucket, "split");
}

function renamed(bucket: Omit<BucketAnswer, "key">, name: string): BucketAnswer {
  return { ...bucket, key: name, key_as_string: name };
}

/** Smaller rests are rounding of sums. */
const SMALLEST_REST = 1e-9;

/** Cells by group and series, in the order they came. */
class NumberTable {
  readonly #label: (bucket: BucketAnswer) => string;
  readonly #read: ReadBucket;
  readonly #groups = new Map<number | string, Group>();
  readonly #series = new Map<
    string,
    Pick<Series, "value" | "part"> & { readonly values: Map<number | string, number | undefined> }
  >();

  constructor(label: (bucket: BucketAnswer) => string, read: ReadBucket) {
    this.#label = label;
    this.#read = read;
  }

  /** `inner`: the one of both that lies within the other. */
  put(group: Found, { part, bucket }: Found, inner: BucketAnswer): void {
    this.#put(this.#group(group), nameOf(bucket), part, keyText(bucket), this.#read(inner));
  }

  /** Puts what the series leave of a group's own number. */
  putRest(group: Found): void {
    const { key } = group.bucket;
    const whole = this.#read(group.bucket);
    if (whole === undefined) return;
    let rest = whole;
    for (const { values } of this.#series.values()) rest -= values.get(key) ?? 0;
    // Lines with several values are in several series, so that nothing may be left.
    if (rest <= Math.abs(whole) * SMALLEST_REST) return;
    this.#put(this.#group(group), othersName(), "others", "", rest);
  }

  #group({ part, bucket }: Found): number | string {
    const { key } = bucket;
    if (!this.#groups.has(key)) this.#groups.set(key, { key, label: this.#label(bucket), part });
    return key;
  }

  #put(group: number | string, name: string, part: Part, value: string, number: number | undefined): void {
    let series = this.#series.get(name);
    if (series === undefined) this.#series.set(name, (series = { value, part, values: new Map() }));
    series.values.set(group, number);
  }

  read(isOrdered: boolean): Pick<ChartData, "groups" | "series"> {
    const groups = [...this.#groups.values()];
    if (isOrdered) groups.sort((a, b) => Number(a.key) - Number(b.key));
    const series = [...this.#series].map(([name, { value, part, values }]) => ({
      name,
      value,
      part,
      values: groups.map(({ key }) => values.get(key)),
    }));
    return { groups, series: inOrderOfLevels(series) };
  }
}

/** Returns series of levels from trace to fatal, as in every other place, what has no level below them; others as they are. */
function inOrderOfLevels(series: Series[]): Series[] {
  const values = series.filter(({ part }) => part === "value");
  if (values.length < 2 || values.some(({ name }) => levelOf(name) === 0)) return series;
  const rank = ({ name, part }: Series): number =>
    part === "missing" ? -1 : part === "others" ? 0 : levelOf(name);
  return series.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the name of lines without the field. */
export function missingName(): string {
  return msg("(no value)");
}

/** Returns the name of values that aren't shown by themselves. */
export function othersName(): string {
  return msg("Others");
}

function keyText({ key, key_as_string }: BucketAnswer): string {
  return key_as_string ?? String(key);
}

function nameOf(bucket: BucketAnswer): string {
  const text = keyText(bucket);
  return text === "" ? "(empty)" : visibleText(text);
}

function timeLabel(atMs: number, isUtc: boolean): string {
  return formatTime(atMs, isUtc).slice(0, 19);
}

/** Returns the number of lines found. */
export function totalOf({ hits: { total } }: VisualisationAnswer): number {
  return typeof total === "number" ? total : total.value;
}

/** Returns what was measured of a bucket, or undefined if there was nothing to measure. */
export function measure({ doc_count, metric }: BucketAnswer, isCount: boolean): number | undefined {
  if (isCount) return doc_count;
  const value = metric?.value ?? Object.values(metric?.values ?? {})[0];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Returns the sum of each group over all series, for shares of a whole. */
export function groupSums({ groups, series }: Pick<ChartData, "groups" | "series">): number[] {
  return groups.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
}

/** Returns the largest number of each group, where they don't add up. */
export function groupTops({ groups, series }: Pick<ChartData, "groups" | "series">): number[] {
  return groups.map((_, at) => Math.max(0, ...series.map(({ values }) => values[at] ?? 0)));
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

/** Returns numbers of groups to label, so that each label has `width` px of `total`. */
export function labelledGroups(groups: number, totalPx: number, labelPx: number): number[] {
  if (groups === 0) return [];
  const fits = Math.max(1, Math.floor(totalPx / labelPx));
  const every = Math.max(1, Math.ceil(groups / fits));
  return Array.from({ length: Math.ceil(groups / every) }, (_, index) => index * every);
}
