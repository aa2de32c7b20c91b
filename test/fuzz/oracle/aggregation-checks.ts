/** Aggregations of the documents that a random query matches. */

import type { Aggregation, Scope } from "./aggregation.ts";
import { globalBucket, randomBuckets } from "./buckets.ts";
import { difference } from "./comparing.ts";
import { randomComposite } from "./composite.ts";
import type { Json } from "./documents.ts";
import { faultText } from "./fault-text.ts";
import { randomMetric } from "./metrics.ts";
import { randomQuestion } from "./queries.ts";
import type { Question, Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";

const ALL: Question = { query: { match_all: {} }, fits: () => true };

/** A search whose hits have the number `u` as their score. */
export function scoredByNumber({ query, fits }: Question): Question {
  const functions = [{ field_value_factor: { field: "u" } }];
  return { query: { function_score: { query, functions, boost_mode: "replace" } }, fits };
}

export async function aggregations(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { dice } = subject;
  const isScored = dice.chance(0.3);
  const asked = dice.chance(0.5) ? ALL : randomQuestion(subject, 2);
  const question = isScored ? scoredByNumber(asked) : asked;
  const scope: Scope = { subject, level: "root", isScored };
  const made = Object.fromEntries(
    dice.times(1 + dice.below(2), (at): [string, Aggregation] => [`agg${at}`, atTop(scope)]),
  );
  const body: Json = {
    size: dice.pick([0, 0, 3]),
    query: question.query,
    aggs: Object.fromEntries(Object.entries(made).map(([name, each]) => [name, each.body])),
  };
  const post = dice.chance(0.15) ? randomQuestion(subject, 1) : ALL;
  if (post !== ALL) body["post_filter"] = post.query;
  const least = isScored && dice.chance(0.2) ? dice.below(1_000) : 0;
  if (least > 0) body["min_score"] = least;
  const matches = subject.items.filter((item) => question.fits(item) && (item.root["u"] as number) >= least);
  const answer = await index.search(body);
  const expected = Object.fromEntries(
    Object.entries(made).map(([name, each]) => [name, each.expect(matches)]),
  );
  const total = matches.filter(post.fits).length;
  return faultText(
    difference(expected, answer.aggregations) ?? difference(total, answer.hits.total, "total"),
    body,
  );
}

function atTop(scope: Scope): Aggregation {
  const { dice } = scope.subject;
  if (dice.chance(0.07)) return globalBucket(scope, 1);
  return dice.chance(0.15) ? randomMetric(scope) : randomBuckets(scope, dice.below(3));
}

export async function compositePages(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const question = subject.dice.chance(0.5) ? ALL : randomQuestion(subject, 1);
  const { sources, sub, size, all } = randomComposite({ subject, level: "root", isScored: false });
  const expected = all(subject.items.filter(question.fits));
  const found: unknown[] = [];
  let after: unknown;
  const bodyOf = (): Json => ({
    size: 0,
    query: question.query,
    aggs: { pages: { composite: { sources, size, ...(after === undefined ? {} : { after }) }, ...sub } },
  });
  // Long lists are read in part.
  while (found.length < 10 * size) {
    const { aggregations: read } = await index.search(bodyOf());
    const page = read!["pages"] as { after_key?: unknown; buckets: unknown[] };
    found.push(...page.buckets);
    if (page.buckets.length < size) break;
    after = page.after_key;
  }
  const isWhole = found.length < 10 * size;
  const wanted = isWhole ? expected : expected.slice(0, found.length);
  return faultText(difference(wanted, found, "pages"), bodyOf());
}
