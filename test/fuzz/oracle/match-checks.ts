/** Which documents a query matches, by a search and by _count. */

import { difference } from "./comparing.ts";
import { faultText } from "./fault-text.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";
import type { SearchedIndex } from "./searched-index.ts";

export async function matching(subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  const { query, fits } = randomQuestion(subject, 3);
  const expected = subject.items.filter(fits).map(({ id }) => id);
  if (subject.dice.chance(0.2)) {
    const counted = (await index.request("POST", `/${index.name}/_count`, { query })) as { count: number };
    return faultText(difference(expected.length, counted.count, "count"), { query });
  }
  const body = { query, size: 10_000, _source: false, sort: ["_doc"] };
  const { hits } = await index.search(body);
  const found = hits.hits.map(({ _id }) => _id);
  const fault =
    setFault(subject, "missed", expected, new Set(found)) ??
    setFault(subject, "wrong", found, new Set(expected));
  return faultText(fault ?? difference(expected.length, hits.total, "total"), body);
}

/** Names a document that the other side hasn't. */
function setFault(
  { items }: Subject,
  name: string,
  ids: readonly string[],
  others: ReadonlySet<string>,
): string | undefined {
  const alone = ids.filter((id) => !others.has(id));
  if (alone.length === 0) return undefined;
  const shown = JSON.stringify(items.find(({ id }) => id === alone[0]));
  return `${name}: ${alone.length}, as ${shown}`;
}
