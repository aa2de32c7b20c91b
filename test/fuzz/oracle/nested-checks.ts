/** Nested objects: sorts by their fields, and inner hits of the objects that a query matches. */

import { difference } from "./comparing.ts";
import { itemsAt, type Json, numbersOf } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";
import { reduced, SORT_MODES } from "./sorting.ts";

const MOST_OBJECTS = 100;
const MOST_HITS = 50;

interface SortedRow {
  readonly id: string;
  readonly number: number;
  /** Undefined: no object has one. */
  readonly value: number | undefined;
}

export async function nestedSort(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const filter = randomQuestion(subject, 1, "object");
  const order = dice.pick(["asc", "desc"] as const);
  const mode = dice.pick(SORT_MODES);
  const nested = { path: "o", filter: filter.query };
  const sort = [{ "o.n": { order, mode, nested } }, { u: "asc" }];
  const body: Json = { query, size: MOST_HITS, sort, _source: false };
  const rows = subject.items.filter(fits).map((item): SortedRow => {
    const chosen = itemsAt(item, "object").filter(filter.fits);
    const numbers = chosen.flatMap((object) => numbersOf(object, "o.n")).sort((a, b) => a - b);
    const value = numbers.length === 0 ? undefined : reduced(numbers, mode, true);
    return { id: item.id, number: numbersOf(item, "u")[0]!, value };
  });
  rows.sort((a, b) => compareRows(a, b, order) || a.number - b.number);
  const { hits } = await index.search(body);
  const expected = rows.slice(0, MOST_HITS).map(({ id }) => ({ _id: id }));
  const fault = difference(expected, hits.hits, "hits") ?? difference(rows.length, hits.total, "total");
  return faultText(fault, body);
}

/** Rows without a value come last. */
function compareRows({ value: a }: SortedRow, { value: b }: SortedRow, order: "asc" | "desc"): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return order === "asc" ? a - b : b - a;
}

export async function innerHits(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const inner = randomQuestion(subject, 1, "object");
  const size = subject.dice.pick([1, MOST_OBJECTS]);
  const sort = [{ "o.n": { order: "asc" } }];
  const query = { nested: { path: "o", query: inner.query, inner_hits: { size, sort } } };
  const body: Json = { query, size: 100, sort: [{ u: "asc" }], _source: false };
  const matches = subject.items.filter((item) => itemsAt(item, "object").some(inner.fits));
  matches.sort((a, b) => numbersOf(a, "u")[0]! - numbersOf(b, "u")[0]!);
  const { hits } = await index.search(body);
  const expected = matches.slice(0, 100).map((item) => {
    const objects = itemsAt(item, "object").filter(inner.fits);
    const numbers = objects
      .map((object) => numbersOf(object, "o.n")[0] ?? Number.POSITIVE_INFINITY)
      .sort((a, b) => a - b);
    const shown = numbers
      .slice(0, size)
      .map((number) => (Number.isFinite(number) ? { sort: [number], _source: { n: number } } : {}));
    return { _id: item.id, inner_hits: { o: { hits: { total: objects.length, hits: shown } } } };
  });
  return faultText(
    difference(expected, hits.hits, "hits") ?? difference(matches.length, hits.total, "total"),
    body,
  );
}
