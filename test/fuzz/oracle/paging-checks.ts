/** Hits in order: from and size, search_after, post_filter, scrolls and their slices, terminate_after. */

import { difference } from "./comparing.ts";
import type { Item, Json } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import type { Hit, SearchedIndex } from "./searched-index.ts";
import { randomKeys, sortBody, sorted } from "./sorting.ts";

/** Pages that are read of a list. */
const MAX_PAGES = 12;

function idsOf(hits: readonly { readonly _id: string }[]): string[] {
  return hits.map(({ _id }) => _id);
}

export async function pages(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 2);
  const keys = randomKeys(subject, 3);
  const size = dice.pick([1, 5, 50, 1_000]);
  const from = dice.chance(0.3) ? dice.below(30) : 0;
  const body: Json = { query, sort: sortBody(keys), size, from, _source: false };
  let matches = subject.items.filter(fits);
  if (dice.chance(0.3)) {
    const post = randomQuestion(subject, 1);
    body["post_filter"] = post.query;
    matches = matches.filter(post.fits);
  }
  if (dice.chance(0.3)) body["track_total_hits"] = false;
  const expected = sorted(matches, keys).map(({ id }) => id);
  let { hits } = await index.search(body);
  const total = body["track_total_hits"] === false ? undefined : expected.length;
  const first =
    difference(expected.slice(from, from + size), idsOf(hits.hits), "first page") ??
    difference(total, hits.total, "total");
  if (first !== undefined) return faultText(first, body);
  let at = from + hits.hits.length;
  for (let page = 0; page < MAX_PAGES && hits.hits.length > 0; page++) {
    const after: Json = { ...body, from: 0, search_after: hits.hits.at(-1)!.sort };
    ({ hits } = await index.search(after));
    const fault =
      difference(expected.slice(at, at + size), idsOf(hits.hits), "next page") ??
      difference(total, hits.total, "total");
    if (fault !== undefined) return faultText(fault, after);
    at += hits.hits.length;
  }
  return undefined;
}

export async function scrolls(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 1);
  const keys = dice.chance(0.5) ? randomKeys(subject, 2) : undefined;
  const slices = dice.pick([1, 1, 2, 5]);
  const body: Json = { query, size: dice.pick([7, 100, 1_000]), _source: false };
  if (keys !== undefined) body["sort"] = sortBody(keys);
  else if (dice.chance(0.5)) body["sort"] = ["_doc"];
  const expected = subject.items.filter(fits);
  const found: string[] = [];
  for (let id = 0; id < slices; id++) {
    const ids = await scrolled(subject, index, slices === 1 ? body : { ...body, slice: { id, max: slices } });
    const chosen = new Set(ids);
    if (keys !== undefined) {
      const inOrder = sorted(
        expected.filter((item) => chosen.has(item.id)),
        keys,
      ).map((item) => item.id);
      const fault = difference(inOrder, ids, `order of slice ${id} of ${slices}`);
      if (fault !== undefined) return faultText(fault, body);
    }
    found.push(...ids);
  }
  const all = expected.map((item) => item.id).sort();
  return faultText(difference(all, found.sort(), `documents of ${slices} slices`), body);
}

/** Reads a scroll to its end. A document that is written in the meantime isn't in it. */
async function scrolled(subject: Subject, index: SearchedIndex, body: Json): Promise<string[]> {
  let answer = await index.search(body, "?scroll=1m");
  const ids: string[] = [];
  if (subject.dice.chance(0.1) && subject.items.length > 0) await writeInBetween(subject.items[0]!, index);
  while (answer.hits.hits.length > 0) {
    ids.push(...idsOf(answer.hits.hits));
    answer = (await index.request("POST", "/_search/scroll", {
      scroll: "1m",
      scroll_id: answer._scroll_id,
    })) as typeof answer;
  }
  await index.request("DELETE", "/_search/scroll", { scroll_id: [answer._scroll_id] });
  return ids;
}

async function writeInBetween({ id, root }: Item, index: SearchedIndex): Promise<void> {
  const path = `/${index.indexOf(id)}/_doc/in-between?refresh=true`;
  await index.request("PUT", path, root);
  await index.request("DELETE", path);
}

/** Each shard stops at as many documents; it may have more, as it stops at the end of a batch. */
export async function terminated(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const { query, fits } = randomQuestion(subject, 2);
  const limit = 1 + dice.below(subject.items.length + 1);
  const body: Json = { query, terminate_after: limit, size: dice.pick([0, 5]) };
  const matches = subject.items.filter(fits);
  const { hits, terminated_early: early } = await index.search(body);
  const wrong = hits.hits.find((hit: Hit) => !matches.some(({ id }) => id === hit._id));
  if (wrong !== undefined) return faultText(`${wrong._id} doesn't match`, body);
  const least = Math.min(matches.length, limit);
  if (hits.total < least || hits.total > matches.length)
    return faultText(`expected a total of ${least}..${matches.length}, was ${hits.total}`, body);
  return faultText(
    early === undefined || typeof early === "boolean" ? undefined : "terminated_early isn't a boolean",
    body,
  );
}
