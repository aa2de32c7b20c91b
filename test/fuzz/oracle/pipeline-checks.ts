/** Pipeline aggregations over histograms with gaps. */

import { grouped } from "./aggregation.ts";
import { difference } from "./comparing.ts";
import { type Item, type Json, numbersOf } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomChooser, randomParent, randomSibling } from "./pipelines.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";
import { nextUnit, unitStart, ZONES, zoneOf } from "./zoned-time.ts";

const INTERVAL = 10;
/** Days or months from the first to the last document, at most: all of them are buckets. */
const MOST_BUCKETS = 1_500;

interface Histogram {
  readonly body: Json;
  readonly start: (value: number) => number;
  readonly next: (start: number) => number;
  readonly field: string;
}

export async function pipelines(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const histogram = dice.chance(0.6) ? ofTimes(subject) : ofNumbers();
  const metric = dice.pick(["avg", "max", "sum"]);
  // A bucket has a sum in any case.
  const path = dice.chance(0.2) ? "_count" : "metric";
  const parent = dice.chance(0.7) ? randomParent(dice, path) : undefined;
  const chooser = dice.chance(0.3) && path !== "_count" ? randomChooser(dice, path) : undefined;
  const sibling = randomSibling(dice, path);
  const below: Json = { metric: { [metric]: { field: "d" } } };
  if (parent !== undefined) below["parent"] = parent.body;
  if (chooser !== undefined) below["chooser"] = chooser.body;
  const aggs = { buckets: { ...histogram.body, aggs: below }, sibling: sibling.body };
  const body: Json = { size: 0, query, aggs };
  const isCount = path === "_count";
  const buckets = bucketsOf(subject.items.filter(fits), histogram).map(({ key, items }) => {
    const value = isCount ? items.length : metricOf(metric, items);
    return { key, count: items.length, value, isCount };
  });
  const added = parent?.expect(buckets);
  const kept = chooser?.choose(buckets) ?? buckets;
  const expected = kept.map((bucket) => ({
    key: bucket.key,
    doc_count: bucket.count,
    parent: added?.[buckets.indexOf(bucket)],
  }));
  const { aggregations } = await index.search(body);
  return faultText(
    difference({ buckets: { buckets: expected }, sibling: sibling.expect(kept) }, aggregations),
    body,
  );
}

function ofNumbers(): Histogram {
  return {
    body: { histogram: { field: "n", interval: INTERVAL, min_doc_count: 0 } },
    field: "n",
    start: (value) => Math.floor(value / INTERVAL) * INTERVAL,
    next: (start) => start + INTERVAL,
  };
}

function ofTimes({ dice, items }: Subject): Histogram {
  const zone = zoneOf(dice.pick(ZONES));
  const times = items.flatMap((item) => numbersOf(item, "at"));
  const span =
    times.reduce((most, each) => Math.max(most, each), 0) -
    times.reduce((least, each) => Math.min(least, each), Infinity);
  const unit =
    span > MOST_BUCKETS * 3_600_000
      ? dice.pick(["day", "week", "month"] as const)
      : dice.pick(["hour", "day"] as const);
  return {
    body: { date_histogram: { field: "at", interval: unit, min_doc_count: 0, time_zone: zone.name } },
    field: "at",
    start: (value) => unitStart(value, unit, zone),
    next: (start) => nextUnit(start, unit, zone),
  };
}

function metricOf(metric: string, items: readonly Item[]): number | undefined {
  const numbers = items.flatMap((item) => numbersOf(item, "d"));
  const sum = numbers.reduce((total, each) => total + each, 0);
  if (metric === "sum") return sum;
  if (numbers.length === 0) return undefined;
  return metric === "avg" ? sum / numbers.length : Math.max(...numbers);
}

function bucketsOf(
  items: readonly Item[],
  { field, start, next }: Histogram,
): { key: number; items: readonly Item[] }[] {
  const groups = grouped(items, (item) => numbersOf(item, field).map(start));
  const keys = [...groups.keys()].sort((a, b) => a - b);
  const buckets: { key: number; items: readonly Item[] }[] = [];
  for (let key = keys[0]!; key <= keys.at(-1)!; key = next(key)) {
    buckets.push({ key, items: groups.get(key) ?? [] });
  }
  return buckets;
}
