/** Evaluates LogQL metric queries over documents: in the index if it can count the lines, else line by line. */

import { binary } from "#hub/api/logql/binary-operators.ts";
import type { FieldValues } from "#hub/api/logql/entry.ts";
import {
  checkSeries,
  groupedLabels,
  keyOf,
  type Labels,
  overSeries,
  replaced,
  type Series,
} from "#hub/api/logql/metric-math.ts";
import { overRange, type Samples } from "#hub/api/logql/range-window.ts";
import type { Grouping, MetricQuery } from "#hub/api/logql/syntax.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { LogSource, Span } from "./log-source.ts";

/**
 * Maximum number of a label's values that the index counts separately; one more is requested to detect that there are
 * too many.
 */
const MAX_VALUES = 500;
/** Maximum number of buckets for one query. */
const MAX_BUCKETS = 11_000;

type Range = Extract<MetricQuery, { kind: "range" }>;

/** Returns series over `steps` (ms, ascending), or a single number. Throws request_invalid. */
export async function evaluate(
  source: LogSource,
  query: MetricQuery,
  steps: readonly number[],
): Promise<Series[] | number> {
  switch (query.kind) {
    case "number":
      return query.isVector ? [{ labels: {}, points: steps.map(() => query.value) }] : query.value;
    case "binary": {
      const left = await evaluate(source, query.left, steps);
      const right = await evaluate(source, query.right, steps);
      return binary(query, left, right, source.pace);
    }
    case "label_replace":
      return replaced(query, await evaluate(source, query.inner, steps), source.pace);
    case "range":
      return query.name === "absent_over_time"
        ? absent(query, await scanned(source, query, steps, { without: false, labels: [] }), steps)
        : scanned(source, query, steps, undefined);
    case "vector": {
      const { inner, name, grouping, count } = query;
      if (inner.kind === "range" && name === "sum") {
        const counted = await countedInIndex(source, inner, grouping, steps);
        if (counted !== undefined) return counted;
        // Sums are computed while lines are read, so fewer series are kept.
        if (
          inner.grouping === undefined &&
          /^(?:rate|count_over_time|bytes_rate|bytes_over_time|sum_over_time)$/.test(inner.name)
        )
          return scanned(source, inner, steps, grouping ?? { without: false, labels: [] });
      }
      const series = await evaluate(source, inner, steps);
      if (typeof series === "number")
        throw new AppError("request_invalid", `parse error : ${name} needs series, not a number`);
      return series.length === 0 ? [] : overSeries(series, name, grouping, count, source.pace);
    }
  }
}

function spanOf({ rangeMs, offsetMs }: Range, steps: readonly number[]): Span {
  return { startMs: steps[0]! - rangeMs - offsetMs + 1, endMs: steps.at(-1)! - offsetMs + 1 };
}

/** Reads the lines. `joined`: the labels of the final result. */
async function scanned(
  source: LogSource,
  query: Range,
  steps: readonly number[],
  joined: Grouping | undefined,
): Promise<Series[]> {
  const all = new Map<string, Samples>();
  const grouping = query.grouping ?? joined;
  await source.read(query.log, spanOf(query, steps), "asc", (entry) => {
    const own = Object.fromEntries(entry.labels);
    const wanted = grouping?.without === false ? withFields(own, entry.field, grouping.labels) : own;
    const labels = grouping === undefined ? own : groupedLabels(wanted, grouping);
    const key = keyOf(labels);
    let samples = all.get(key);
    if (samples === undefined) {
      checkSeries(all.size + 1);
      samples = { labels, times: [], values: [] };
      all.set(key, samples);
    }
    samples.times.push(entry.timeMs + query.offsetMs);
    samples.values.push(countedValue(query.name, entry.line, entry.value));
    return true;
  });
  return overRanges(source, query, [...all.values()], steps);
}

async function overRanges(
  { pace }: LogSource,
  range: Range,
  all: readonly Samples[],
  steps: readonly number[],
): Promise<Series[]> {
  const series: Series[] = [];
  for (const samples of all) series.push(await overRange(samples, range, steps, pace));
  return series;
}

/** Returns 1 at each step without a line, with the labels that all lines would have. */
function absent({ log }: Range, [found]: readonly Series[], steps: readonly number[]): Series[] {
  const points = steps.map((_, at) => (found?.points[at] === undefined ? 1 : undefined));
  const names = log.matchers.map(({ label }) => label);
  const equal = log.matchers.filter(
    ({ label, operator, value }) =>
      operator === "=" && value !== "" && names.indexOf(label) === names.lastIndexOf(label),
  );
  const labels = Object.fromEntries(equal.map(({ label, value }) => [label, value]));
  return points.every((point) => point === undefined) ? [] : [{ labels, points }];
}

/** Returns the labels `names`; those that the stream lacks are read from fields of the document. */
function withFields(own: Labels, field: FieldValues, names: readonly string[]): Labels {
  return Object.fromEntries(
    names.map((name) => [name, Object.hasOwn(own, name) ? own[name]! : field(name).join(",")]),
  );
}

function countedValue(name: string, line: string, value: number | undefined): number {
  if (name.startsWith("bytes")) return Buffer.byteLength(line);
  return value ?? 1;
}

/**
 * Counts lines in the index. Possible without stages, for labels that each name one field, and if the steps fit.
 * Undefined: not possible.
 */
async function countedInIndex(
  source: LogSource,
  query: Range,
  grouping: Grouping | undefined,
  steps: readonly number[],
): Promise<Series[] | undefined> {
  const { name, log, rangeMs, offsetMs } = query;
  const fields = (grouping?.labels ?? []).map((label) => source.fields.of(label));
  const counts = name === "rate" || name === "count_over_time";
  const isPlain = log.stages.every(({ kind }) => kind === "drop") && query.grouping === undefined;
  if (!counts || !isPlain || grouping?.without === true || fields.some(({ length }) => length > 1))
    return undefined;
  const stepMs = steps.length > 1 ? steps[1]! - steps[0]! : rangeMs;
  const bucketMs = divisor(Math.round(rangeMs), Math.round(stepMs));
  const span = spanOf(query, steps);
  if (bucketMs < 1 || (span.endMs - span.startMs) / bucketMs > MAX_BUCKETS) return undefined;
  const histogram = {
    date_histogram: {
      field: "@timestamp",
      interval: `${bucketMs}ms`,
      offset: `${((span.startMs % bucketMs) + bucketMs) % bucketMs}ms`,
      min_doc_count: 1,
    },
  };
  const labels = (grouping?.labels ?? []).flatMap((label, at) =>
    fields[at]![0] === undefined ? [] : [{ label, field: fields[at]![0] }],
  );
  let aggs: JsonObject = { time: histogram };
  for (const { field } of labels.toReversed())
    aggs = { by: { terms: { field, size: MAX_VALUES + 1 }, aggs }, none: { missing: { field }, aggs } };
  const found = await source.search({ size: 0, query: await source.filter(log.matchers, span), aggs });
  const all: Samples[] = [];
  collect(
    (found?.aggregations?.parse() ?? {}) as JsonObject,
    labels.map(({ label }) => label),
    {},
    all,
    bucketMs + offsetMs - 1,
  );
  checkSeries(all.length);
  return overRanges(source, query, all, steps);
}

/**
 * Collects counts: descends through the buckets of labels to those of times. `lastMs`: from a bucket's start to the last time
 * that it counts.
 */
function collect(
  aggs: JsonObject,
  labels: readonly string[],
  found: Labels,
  into: Samples[],
  lastMs: number,
): void {
  const [label, ...rest] = labels;
  if (label === undefined) {
    const buckets = ((aggs["time"] as JsonObject | undefined)?.["buckets"] ?? []) as JsonObject[];
    if (buckets.length === 0) return;
    into.push({
      labels: found,
      times: buckets.map(({ key }) => Number(key) + lastMs),
      values: buckets.map(({ doc_count: count }) => Number(count)),
    });
    return;
  }
  for (const bucket of ((aggs["by"] as JsonObject | undefined)?.["buckets"] ?? []) as JsonObject[])
    collect(
      bucket,
      rest,
      { ...found, [label]: String(bucket["key_as_string"] ?? bucket["key"]) },
      into,
      lastMs,
    );
  const none = aggs["none"] as JsonObject | undefined;
  if (none !== undefined) collect(none, rest, found, into, lastMs);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
