/** Random histograms and ranges of numbers and addresses, filters, missing. */

import { type Aggregation, grouped, type Scope } from "./aggregation.ts";
import { comparison, type Item, type Json, type Value, valuesOf } from "./documents.ts";
import { randomQuestion } from "./queries.ts";
import { compareBounds, fieldsOf, type Subject, someBounds, someValue } from "./question.ts";
import { withMissing } from "./replaced-values.ts";
import type { SubAggregations } from "./sub-aggregations.ts";

export function histogram(scope: Scope, sub: SubAggregations): Aggregation {
  const { subject, level } = scope;
  const { dice } = subject;
  const field = dice.pick(
    level === "root" ? ["n", "m", "d", "f", "c", "z", "na"] : fieldsOf(level, "number"),
  );
  const interval = dice.pick([1, 2.5, 5, 10, 250]);
  const offset = dice.pick([0, 0, 3]) % interval;
  const values = withMissing(scope, field);
  // Numbers of `m` lie far apart: there would be too many empty buckets.
  const least = field === "m" || interval < 5 ? 1 : dice.below(2);
  const bounds =
    least === 0 && dice.chance(0.3) ? { min: dice.between(-90, 0), max: dice.between(0, 90) } : undefined;
  const isKeyed = dice.chance(0.15);
  const order = least > 0 && dice.chance(0.2) ? { _key: "desc" } : undefined;
  const options: Json = { field, interval, offset, min_doc_count: least, ...values.options };
  if (bounds !== undefined) options["extended_bounds"] = bounds;
  if (isKeyed) options["keyed"] = true;
  if (order !== undefined) options["order"] = order;
  const keyOf = (value: number): number => Math.floor((value - offset) / interval) * interval + offset;
  return {
    body: { histogram: options, ...sub.body },
    expect(items) {
      const groups = grouped(items, (item) => (values.valuesOf(item) as number[]).map(keyOf));
      const ends = [
        ...groups.keys(),
        ...(bounds === undefined ? [] : [keyOf(bounds.min), keyOf(bounds.max)]),
      ];
      if (least === 0)
        for (let key = Math.min(...ends); key <= Math.max(...ends); key += interval)
          if (!groups.has(key)) groups.set(key, []);
      const found = [...groups].sort(([a], [b]) => (order === undefined ? a - b : b - a));
      const buckets = found.map(([key, group]) => ({ key, ...sub.expectBucket(group) }));
      return {
        buckets: isKeyed ? Object.fromEntries(buckets.map((each) => [decimal(each.key), each])) : buckets,
      };
    },
  };
}

/** A number as keys of buckets write it. */
function decimal(number: number): string {
  return Number.isInteger(number) ? number.toFixed(1) : String(number);
}

export function ranges(scope: Scope, sub: SubAggregations): Aggregation {
  const { subject, level } = scope;
  const { dice } = subject;
  const field = dice.pick(fieldsOf(level, "number"));
  const values = withMissing(scope, field);
  const wanted = dice.times(1 + dice.below(4), () => {
    const from = dice.chance(0.8) ? dice.between(-50, 50) : Number.NEGATIVE_INFINITY;
    const isOpen = Number.isFinite(from) && dice.chance(0.2);
    return { from, to: isOpen ? Number.POSITIVE_INFINITY : Math.max(from, -50) + dice.below(80) };
  });
  wanted.sort((a, b) => compareBounds(a.from, b.from) || compareBounds(a.to, b.to));
  const bounds = wanted.map(({ from, to }) => ({
    ...(from === Number.NEGATIVE_INFINITY ? {} : { from }),
    ...(to === Number.POSITIVE_INFINITY ? {} : { to }),
  }));
  return {
    body: { range: { field, ranges: bounds, ...values.options }, ...sub.body },
    expect: (items) => ({
      buckets: wanted.map(({ from, to }, at) => {
        const isIn = (value: Value): boolean => Number(value) >= from && Number(value) < to;
        const key = `${Number.isFinite(from) ? decimal(from) : "*"}-${Number.isFinite(to) ? decimal(to) : "*"}`;
        return {
          key,
          ...bounds[at],
          ...sub.expectBucket(items.filter((item) => values.valuesOf(item).some(isIn))),
        };
      }),
    }),
  };
}

export function addressRanges({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  const field = level === "root" ? "ip" : undefined;
  if (field === undefined) return ranges({ subject, level, isScored: false }, sub);
  const compare = comparison(field);
  const [low, high] = someBounds(subject, field);
  const middle = compare(low, high) === 0 ? [] : [{ from: low, to: high }];
  if (subject.dice.chance(0.3)) return addressBlocks(subject, sub);
  const wanted = subject.dice.some([{ to: low }, ...middle, { from: high }], 2);
  wanted.sort((a, b) => (a.from === undefined ? -1 : b.from === undefined ? 1 : compare(a.from, b.from)));
  return {
    body: { ip_range: { field, ranges: wanted }, ...sub.body },
    expect: (items) => ({
      buckets: wanted.map(({ from, to }) => ({
        ...sub.expectBucket(
          items.filter((item) =>
            valuesOf(item, field).some(
              (value) =>
                (from === undefined || compare(value, from) >= 0) &&
                (to === undefined || compare(value, to) < 0),
            ),
          ),
        ),
      })),
    }),
  };
}

/** Blocks are named as they are written, and in the order of their first addresses. */
function addressBlocks(subject: Subject, sub: SubAggregations): Aggregation {
  const address = String(someValue(subject, "ip"));
  const bits = subject.dice.pick([8, 16, 24]);
  const parts = address.split(".").slice(0, bits / 8);
  const mask = `${[...parts, "0", "0", "0"].slice(0, 4).join(".")}/${bits}`;
  const start = `${parts.join(".")}.`;
  const isIn = (item: Item): boolean => valuesOf(item, "ip").some((value) => String(value).startsWith(start));
  return {
    body: { ip_range: { field: "ip", ranges: [{ mask }] }, ...sub.body },
    expect: (items) => ({ buckets: [{ key: mask, ...sub.expectBucket(items.filter(isIn)) }] }),
  };
}

export function filter({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  const { query, fits } = randomQuestion(subject, 1, level);
  return { body: { filter: query, ...sub.body }, expect: (items) => sub.expectBucket(items.filter(fits)) };
}

export function filters({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  const [a, b] = [randomQuestion(subject, 1, level), randomQuestion(subject, 1, level)];
  const hasOther = subject.dice.chance(0.5);
  const isKeyed = subject.dice.chance(0.7);
  return {
    body: {
      filters: {
        filters: isKeyed ? { a: a.query, b: b.query } : [a.query, b.query],
        ...(hasOther ? { other_bucket: true } : {}),
      },
      ...sub.body,
    },
    expect(items) {
      const buckets = [
        sub.expectBucket(items.filter(a.fits)),
        sub.expectBucket(items.filter(b.fits)),
        ...(hasOther ? [sub.expectBucket(items.filter((item) => !a.fits(item) && !b.fits(item)))] : []),
      ];
      return { buckets: isKeyed ? { a: buckets[0], b: buckets[1], _other_: buckets[2] } : buckets };
    },
  };
}

export function missing({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  const field = subject.dice.pick(fieldsOf(level));
  return {
    body: { missing: { field }, ...sub.body },
    expect: (items) => sub.expectBucket(items.filter((item) => valuesOf(item, field).length === 0)),
  };
}

export function adjacency({ subject, level }: Scope, sub: SubAggregations): Aggregation {
  const [a, b] = [randomQuestion(subject, 0, level), randomQuestion(subject, 0, level)];
  return {
    body: { adjacency_matrix: { filters: { a: a.query, b: b.query } }, ...sub.body },
    expect(items) {
      const found: readonly (readonly [string, Item[]])[] = [
        ["a", items.filter(a.fits)],
        ["a&b", items.filter((item) => a.fits(item) && b.fits(item))],
        ["b", items.filter(b.fits)],
      ];
      const buckets = found.filter(([, group]) => group.length > 0);
      return { buckets: buckets.map(([key, group]) => ({ key, ...sub.expectBucket(group) })) };
    },
  };
}
