/** One hit of each value of a field, with others of the same value as inner hits. */

import { ABSENT, difference } from "./comparing.ts";
import { type Item, type Json, type Value, valuesOf } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";
import { randomKeys, type SortKey, sortBody, sorted } from "./sorting.ts";

const INNER_HITS = 3;

export async function collapsed(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  // Documents with several values can't be collapsed.
  const fields = ["k", "kk", "n"].filter((field) =>
    subject.items.every((item) => valuesOf(item, field).length < 2),
  );
  if (fields.length === 0) return undefined;
  const field = dice.pick(fields);
  const { query, fits } = randomQuestion(subject, 2);
  const [keys, innerKeys] = [randomKeys(subject, 1), randomKeys(subject, 1)];
  const from = dice.pick([0, 0, 1]);
  const size = dice.pick([2, 10]);
  const hasInner = dice.chance(0.6);
  const inner: Json = { name: "others", size: INNER_HITS, sort: sortBody(innerKeys), _source: false };
  const body: Json = {
    query,
    from,
    size,
    sort: sortBody(keys),
    collapse: { field, ...(hasInner ? { inner_hits: inner } : {}) },
    _source: false,
  };
  const matches = subject.items.filter(fits);
  const firsts = firstsOf(sorted(matches, keys), field).slice(from, from + size);
  const { hits } = await index.search(body);
  const expected = firsts.map((item) => ({
    _id: item.id,
    inner_hits: hasInner ? { others: { hits: innerHits(matches, item, field, innerKeys) } } : ABSENT,
  }));
  return faultText(
    difference(expected, hits.hits, "collapsed") ?? difference(matches.length, hits.total, "total"),
    body,
  );
}

function groupOf(item: Item, field: string): Value | undefined {
  return valuesOf(item, field)[0];
}

/** The first document of each value; those without one are a group of their own. */
function firstsOf(items: readonly Item[], field: string): Item[] {
  const groups = new Map<Value | undefined, Item>();
  for (const item of items) if (!groups.has(groupOf(item, field))) groups.set(groupOf(item, field), item);
  return [...groups.values()];
}

function innerHits(
  matches: readonly Item[],
  { id, root }: Item,
  field: string,
  keys: readonly SortKey[],
): Json {
  const group = groupOf({ id, root }, field);
  const same = sorted(
    matches.filter((each) => groupOf(each, field) === group),
    keys,
  );
  return { total: same.length, hits: same.slice(0, INNER_HITS).map((each) => ({ _id: each.id })) };
}
