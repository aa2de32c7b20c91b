/** Scores of hits, their order, max_score and min_score. */

import { difference, near } from "./comparing.ts";
import type { Json } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import type { Subject } from "./question.ts";
import { randomScored } from "./scored-queries.ts";
import type { SearchedIndex } from "./searched-index.ts";

/** Scores are floats, and sums of them as well. */
const FLOAT_ERROR = 1e-5;
const MOST_HITS = 10_000;

export async function scores(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { query, score } = randomScored(subject, 2);
  const scored = subject.items
    .map((item) => [item.id, score(item)] as const)
    .filter(([, each]) => each !== undefined);
  const wanted = new Map(scored as [string, number][]);
  const least = subject.dice.chance(0.3)
    ? limitBetween([...wanted.values()], subject.dice.below(wanted.size + 1))
    : undefined;
  if (least !== undefined) for (const [id, each] of wanted) if (each < least) wanted.delete(id);
  const size = subject.dice.pick([3, MOST_HITS]);
  const body: Json = { query, size, _source: false, ...(least === undefined ? {} : { min_score: least }) };
  const { hits } = await index.search(body);
  const largest = wanted.size === 0 || size === 0 ? null : near(Math.max(...wanted.values()), FLOAT_ERROR);
  const fault = difference({ total: wanted.size, max_score: largest }, hits, "hits");
  if (fault !== undefined) return faultText(fault, body);
  let [last, shown] = [Number.POSITIVE_INFINITY, 0];
  for (const { _id: id, _score: was } of hits.hits) {
    const wrong = wanted.has(id)
      ? difference(near(wanted.get(id)!, FLOAT_ERROR), was, `score of ${id}`)
      : `${id} doesn't match`;
    if (wrong !== undefined)
      return faultText(
        `${wrong} ${JSON.stringify(subject.items.find((item) => item.id === id)?.root)}`,
        body,
      );
    if (was! > last) return faultText(`${id} has a higher score than the hit before it`, body);
    [last, shown] = [was!, shown + 1];
  }
  const best = [...wanted.values()].sort((a, b) => b - a)[shown - 1];
  return faultText(
    best === undefined ? undefined : difference(near(best, FLOAT_ERROR), last, "last score"),
    body,
  );
}

/** A limit far from all scores, below that of the given rank; undefined without such. */
function limitBetween(scores: readonly number[], rank: number): number | undefined {
  const ascending = [...new Set(scores)].sort((a, b) => a - b);
  const [low, high] = [ascending[rank - 1], ascending[rank]];
  if (low === undefined || high === undefined || high - low < 1e-3 * Math.abs(high)) return undefined;
  return (low + high) / 2;
}
