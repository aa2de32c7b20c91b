/** The forms of minimum_should_match. */

import type { Dice } from "./dice.ts";

/** Returns a random form for a number of clauses. */
export function randomLeast(dice: Dice, clauses: number): string | number {
  return dice.pick<string | number>([
    dice.below(clauses + 2),
    String(dice.below(clauses + 1)),
    -dice.below(clauses + 1),
    `${dice.pick([0, 30, 50, 67, 75, 100])}%`,
    `-${dice.pick([10, 25, 34, 50])}%`,
    `${1 + dice.below(3)}<${dice.pick([50, 75])}%`,
    `1<-1 3<50%`,
    `2<-25% 4<3`,
  ]);
}

/** Returns how many of `clauses` must match. Percentages are rounded toward zero. */
export function leastClauses(clauses: number, form: string | number): number {
  const text = String(form);
  if (text.includes("<")) {
    let least = clauses;
    for (const condition of text.split(" ")) {
      const [bound, spec] = condition.split("<");
      if (clauses <= Number(bound)) return least;
      least = leastClauses(clauses, spec!);
    }
    return least;
  }
  const amount = text.endsWith("%")
    ? Math.trunc(Math.fround(Math.fround(clauses * Number(text.slice(0, -1))) * Math.fround(0.01)))
    : Number(text);
  return Math.max(0, amount < 0 ? clauses + amount : amount);
}
