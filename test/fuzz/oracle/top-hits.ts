/** Random top_hits. */

import type { Aggregation, Scope } from "./aggregation.ts";
import { NESTED_PATHS, valuesOf } from "./documents.ts";
import { randomKeys, sortBody, sorted } from "./sorting.ts";

export function topHits(scope: Scope): Aggregation {
  const { subject, level, isScored } = scope;
  const size = 1 + subject.dice.below(3);
  const from = subject.dice.chance(0.2) ? 1 : 0;
  if (level !== "root") return topObjects(size, from, `${NESTED_PATHS[level]}.n`);
  if (isScored && subject.dice.chance(0.5)) {
    return {
      body: { top_hits: { size, from } },
      expect(items) {
        const hits = items.toSorted((a, b) => (b.root["u"] as number) - (a.root["u"] as number));
        const shown = hits
          .slice(from, from + size)
          .map((item) => ({ _id: item.id, _score: item.root["u"], _source: item.root }));
        return { hits: { total: items.length, hits: shown } };
      },
    };
  }
  const keys = randomKeys(subject, 2);
  return {
    body: { top_hits: { size, from, sort: sortBody(keys), _source: ["u"] } },
    expect(items) {
      const shown = sorted(items, keys).slice(from, from + size);
      return {
        hits: {
          total: items.length,
          hits: shown.map((item) => ({ _id: item.id, _source: { u: item.root["u"] } })),
        },
      };
    },
  };
}

/** Objects have no number of their own: those that are alike may come in any order. */
function topObjects(size: number, from: number, field: string): Aggregation {
  return {
    body: { top_hits: { size, from, sort: [{ [field]: { order: "desc" } }] } },
    expect(items) {
      const values = items.map(
        (item) => (valuesOf(item, field)[0] as number | undefined) ?? Number.NEGATIVE_INFINITY,
      );
      const shown = values.sort((a, b) => b - a).slice(from, from + size);
      return {
        hits: {
          total: items.length,
          hits: shown.map((value) => (Number.isFinite(value) ? { sort: [value] } : {})),
        },
      };
    },
  };
}
