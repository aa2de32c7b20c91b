/** Rescoring of the first hits by a second query. */

import { scoredByNumber } from "./aggregation-checks.ts";
import { difference, near } from "./comparing.ts";
import type { Json } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import { randomScored } from "./scored-queries.ts";
import type { SearchedIndex } from "./searched-index.ts";

const FLOAT_ERROR = 1e-5;

/** How the scores of both queries are combined, each times its weight. */
const MODES: Readonly<Record<string, (first: number, second: number) => number>> = {
  total: (first, second) => first + second,
  multiply: (first, second) => first * second,
  avg: (first, second) => (first + second) / 2,
  max: Math.max,
  min: Math.min,
};

/** Each shard rescores its own first hits, so that one shard alone says which these are. */
export async function rescored(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  if (subject.shards > 1) return undefined;
  const { dice } = subject;
  const { query, fits } = scoredByNumber(randomQuestion(subject, 1));
  const second = randomScored(subject, 1);
  const [mode, combine] = dice.pick(Object.entries(MODES));
  const [weight, secondWeight] = [dice.pick([1, 0.5]), dice.pick([1, 30])];
  const [size, window] = [dice.pick([3, 20]), dice.pick([5, 50])];
  const body: Json = {
    query,
    size,
    _source: false,
    rescore: {
      window_size: window,
      query: {
        rescore_query: second.query,
        score_mode: mode,
        query_weight: weight,
        rescore_query_weight: secondWeight,
      },
    },
  };
  const matches = subject.items.filter(fits).sort((a, b) => numberOf(b) - numberOf(a));
  const collected = matches.slice(0, Math.max(size, window)).map((item, at) => {
    const other = at < window ? second.score(item) : undefined;
    const first = numberOf(item) * weight;
    return other === undefined ? first : combine(first, other * secondWeight);
  });
  const expected = collected.sort((a, b) => b - a).slice(0, size);
  const { hits } = await index.search(body);
  const found = hits.hits.map(({ _score }) => _score);
  const wanted = expected.map((score) => near(score, FLOAT_ERROR));
  return faultText(
    difference(wanted, found, "scores") ?? difference(matches.length, hits.total, "total"),
    body,
  );
}

function numberOf({ root }: { readonly root: Json }): number {
  return root["u"] as number;
}
