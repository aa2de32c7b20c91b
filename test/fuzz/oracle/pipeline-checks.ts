/** Pipeline aggregations over histograms with gaps, and over terms. */

import { HOUR_MS } from "#proto/kit/units.ts";
import { grouped } from "./aggregation.ts";
import { difference } from "./comparing.ts";
import { comparison, type Item, type Json, numbersOf, type Value, valuesOf } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { bucketScript, randomChooser, randomParent, randomSibling } from "./pipelines.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";
import { nextUnit, unitStart, ZONES, zoneOf } from "./zoned-time.ts";

const INTERVAL = 10;
/** Days or months from the first to the last document, at most: all of them are buckets. */
const MOST_BUCKETS = 1_500;

/** Documents of a bucket; `key`: its number, or its place where it is a text. */
interface Row {
  readonly key: number;
  readonly label: Value;
  readonly items: readonly Item[];
}

interface Buckets {
  readonly body: Json;
  readonly isHistogram: boolean;
  readonly rows: (items: readonly Item[]) => Row[];
}

/** The number of a bucket that pipelines read. */
interface Measure {
  readonly aggs: Json;
  readonly path: string;
  readonly of: (items: readonly Item[]) => number | undefined;
}

export async function pipelines(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const { body: container, isHistogram, rows } = dice.pick([ofTimes, ofTimes, ofNumbers, ofTerms])(subject);
  const measure = randomMeasure(subject);
  const { path } = measure;
  const isCount = path === "_count";
  const makeParent = isHistogram ? randomParent : bucketScript;
  const parent = dice.chance(0.7) ? makeParent(dice, path) : undefined;
  const chooser = dice.chance(0.3) && !isCount ? randomChooser(dice, path) : undefined;
  const sibling = randomSibling(dice, path);
  const below: Json = { ...measure.aggs };
  if (parent !== undefined) below["parent"] = parent.body;
  if (chooser !== undefined) below["chooser"] = chooser.body;
  const aggs = { buckets: { ...container, aggs: below }, sibling: sibling.body };
  const body: Json = { size: 0, query, aggs };
  const all = rows(subject.items.filter(fits));
  const buckets = all.map(({ key, items }) => ({
    key,
    count: items.length,
    value: measure.of(items),
    isCount,
  }));
  const added = parent?.expect(buckets);
  const kept = chooser?.choose(buckets) ?? buckets;
  const expected = kept.map((bucket) => {
    const at = buckets.indexOf(bucket);
    return { key: all[at]!.label, doc_count: bucket.count, parent: added?.[at] };
  });
  const { aggregations } = await index.search(body);
  const wanted = { buckets: { buckets: expected }, sibling: sibling.expect(kept) };
  return faultText(difference(wanted, aggregations), body);
}

function ofTerms(): Buckets {
  return {
    body: { terms: { field: "k", size: 100, order: { _key: "asc" } } },
    isHistogram: false,
    rows(items) {
      const groups = [...grouped(items, (item) => valuesOf(item, "k"))];
      groups.sort(([a], [b]) => comparison("k")(a, b));
      return groups.map(([label, group], key) => ({ key, label, items: group }));
    },
  };
}

function ofNumbers(): Buckets {
  return {
    body: { histogram: { field: "n", interval: INTERVAL, min_doc_count: 0 } },
    isHistogram: true,
    rows: (items) =>
      filledRows(
        items,
        "n",
        (value) => Math.floor(value / INTERVAL) * INTERVAL,
        (start) => start + INTERVAL,
      ),
  };
}

function ofTimes({ dice, items }: Subject): Buckets {
  const zone = zoneOf(dice.pick(ZONES));
  const times = items.flatMap((item) => numbersOf(item, "at")).sort((a, b) => a - b);
  const isLong = times.length > 0 && times.at(-1)! - times[0]! > MOST_BUCKETS * HOUR_MS;
  const unit = dice.pick(isLong ? (["day", "week", "month"] as const) : (["hour", "day"] as const));
  return {
    body: { date_histogram: { field: "at", interval: unit, min_doc_count: 0, time_zone: zone.name } },
    isHistogram: true,
    rows: (matches) =>
      filledRows(
        matches,
        "at",
        (value) => unitStart(value, unit, zone),
        (start) => nextUnit(start, unit, zone),
      ),
  };
}

/** Rows from the first to the last one, those without documents as well. */
function filledRows(
  items: readonly Item[],
  field: string,
  start: (value: number) => number,
  next: (start: number) => number,
): Row[] {
  const groups = grouped(items, (item) => numbersOf(item, field).map(start));
  const keys = [...groups.keys()].sort((a, b) => a - b);
  const rows: Row[] = [];
  for (let key = keys[0]!; key <= keys.at(-1)!; key = next(key))
    rows.push({ key, label: key, items: groups.get(key) ?? [] });
  return rows;
}

/** A metric by itself, of stats, below a filter, or the number of documents. */
function randomMeasure({ dice }: Subject): Measure {
  const kind = dice.pick(["avg", "max", "sum"]);
  const of = (items: readonly Item[]): number | undefined => metricOf(kind, items);
  switch (dice.below(5)) {
    case 0:
      return { aggs: {}, path: "_count", of: (items) => items.length };
    case 1:
      return { aggs: { stats: { stats: { field: "d" } } }, path: `stats.${kind}`, of };
    case 2: {
      const isChosen = (item: Item): boolean => numbersOf(item, "n").some((number) => number >= 0);
      const inner = { filter: { range: { n: { gte: 0 } } }, aggs: { metric: { [kind]: { field: "d" } } } };
      return { aggs: { inner }, path: "inner>metric", of: (items) => of(items.filter(isChosen)) };
    }
    default:
      return { aggs: { metric: { [kind]: { field: "d" } } }, path: "metric", of };
  }
}

/** A bucket has a sum in any case. */
function metricOf(metric: string, items: readonly Item[]): number | undefined {
  const numbers = items.flatMap((item) => numbersOf(item, "d"));
  const sum = numbers.reduce((total, each) => total + each, 0);
  if (metric === "sum") return sum;
  if (numbers.length === 0) return undefined;
  return metric === "avg" ? sum / numbers.length : Math.max(...numbers);
}
