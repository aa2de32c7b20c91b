/** Conditions that belong together: as text, and what each of them adds to a score. */

import { describeQuery, explainQuery, match, noMatch } from "#hub/search/explain/explanation.ts";
import type {
  DocumentPlace,
  Explanation,
  Query,
  QueryDescription,
  ShardContext,
} from "#hub/search/query/query.ts";
import type { Clauses } from "./boolean.ts";

/** Returns conditions as Lucene writes them: "+required #filtering -forbidden optional". */
export function describeClauses(clauses: Clauses, shard: ShardContext): QueryDescription {
  const print = (queries: readonly Query[], sign: string): string[] =>
    queries.map((query) => {
      const { text, type } = describeQuery(query, shard);
      return sign + (type === "BooleanQuery" ? `(${text})` : text);
    });
  const { must, filter, should, mustNot, minimumShouldMatch } = clauses;
  const parts = [...print(must, "+"), ...print(filter, "#"), ...print(should, ""), ...print(mustNot, "-")];
  const least = minimumShouldMatch?.(should.length) ?? 0;
  const text = least > 1 ? `(${parts.join(" ")})~${least}` : parts.join(" ");
  return { type: "BooleanQuery", text, children: [...must, ...filter, ...should, ...mustNot] };
}

/** Explains a document by all conditions; `leastShould`: how many of `should` it has to match. */
export function explainClauses(
  { must, filter, should, mustNot }: Clauses,
  leastShould: number,
  place: DocumentPlace,
): Explanation {
  const text = (query: Query): string => describeQuery(query, place.shard).text;
  const scored: Explanation[] = [];
  const failed: Explanation[] = [];
  for (const query of must) {
    const each = explainQuery(query, place);
    if (each.matches) scored.push(each);
    else failed.push(noMatch(`no match on required clause (${text(query)})`, [each]));
  }
  for (const query of filter) {
    const each = explainQuery(query, { ...place, boost: 1 });
    if (!each.matches) failed.push(noMatch(`no match on required clause (${text(query)})`, [each]));
    else scored.push(match(0, "match on required clause, product of:", [match(0, "# clause"), each]));
  }
  for (const query of mustNot) {
    const each = explainQuery(query, { ...place, boost: 1 });
    if (each.matches) failed.push(noMatch(`match on prohibited clause (${text(query)})`, [each]));
  }
  const optional = should.map((query) => explainQuery(query, place)).filter(({ matches }) => matches);
  if (failed.length > 0)
    return noMatch("Failure to meet condition(s) of required/prohibited clause(s)", failed);
  if (optional.length < leastShould) {
    const why =
      leastShould > 1
        ? `Failure to match minimum number of optional clauses: ${leastShould}`
        : "No matching clauses";
    return noMatch(why, optional);
  }
  const all = [...scored, ...optional];
  if (all.length === 0) return match(place.boost, "*:*");
  return match(
    all.reduce((sum, { value }) => sum + value, 0),
    "sum of:",
    all,
  );
}
