/** Parses `minimum_should_match`: "2", "-1", "75%", "-25%", "2<75%", "2<-25% 9<-3". */

import { AppError } from "#proto/kit/errors.ts";

/** Returns the rule of `spec` as a function of the number of clauses; undefined for none. A number above that of the clauses matches nothing. Throws parsing. */
export function minimumShouldMatch(
  spec: string | number | undefined,
): ((clauses: number) => number) | undefined {
  if (spec === undefined) return undefined;
  const text = String(spec).trim();
  if (!text.includes("<")) {
    const rule = simpleRule(text);
    return (clauses) => Math.max(0, rule(clauses));
  }
  const conditions = text.split(/\s+/).map((part) => {
    const [limit = "", rule = ""] = part.split("<");
    if (!/^\d+$/.test(limit)) throw fault(text);
    return { limit: Number(limit), rule: simpleRule(rule) };
  });
  return (clauses) => {
    let minimum = clauses;
    for (const { limit, rule } of conditions) {
      if (clauses <= limit) break;
      minimum = rule(clauses);
    }
    return Math.max(0, minimum);
  };
}

function simpleRule(text: string): (clauses: number) => number {
  const match = /^(-?\d+(?:\.\d+)?)(%?)$/.exec(text);
  if (match === null) throw fault(text);
  const amount = Number(match[1]);
  if (match[2] === "") return (clauses) => (amount < 0 ? clauses + amount : amount);
  return (clauses) => {
    const part = Math.trunc((clauses * amount) / 100);
    return part < 0 ? clauses + part : part;
  };
}

function fault(text: string): AppError {
  return new AppError(
    "parsing",
    `[minimum_should_match] can't be "${text}"; write for example 2, -1, 75% or 2<75%`,
  );
}
