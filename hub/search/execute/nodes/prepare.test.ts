/** What takes long before a segment is searched is done in steps, between which others get the thread. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ensureKernel } from "#hub/engine/kernel/build.ts";
import { NO_MORE_DOCS } from "#hub/engine/searcher/searcher.ts";
import { filterCache } from "#hub/engine/segment/filter-cache.ts";
import { DEFAULT_LIMITS, ShardContext } from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const WORDS = 3000;

// The kernel looks through terms in steps; where it isn't built, patterns are walked otherwise.
await ensureKernel();
const index = new IndexFixture({
  mapping: { properties: { a: { type: "keyword" }, b: { type: "keyword" } } },
  docs: Array.from({ length: WORDS }, (_, at) => ({ a: `word${at}`, b: "same" })),
});
after(() => index.close());

/** Has used up its time whenever it is asked. */
class CountingControl extends SearchControl {
  pauses = 0;

  constructor() {
    super(systemClock, new AbortController().signal, undefined);
  }

  override get isDue(): boolean {
    return true;
  }

  override async pause(): Promise<void> {
    this.pauses++;
    await super.pause();
  }
}

/** Documents that a scorer finds; it may give them in several parts. */
function found(scorer: Scorer | null): number {
  const docs = new Int32Array(WORDS);
  let count = 0;
  while (scorer !== null && scorer.doc !== NO_MORE_DOCS) count += scorer.fill(docs, null);
  return count;
}

const pattern: JsonObject = { regexp: { a: ".*7" } };
const absent: JsonObject = { term: { b: "other" } };

const CASES: readonly (readonly [name: string, query: JsonObject, pauses: boolean])[] = [
  ["a pattern", pattern, true],
  ["a substring", { wildcard: { a: "*rd12*" } }, true],
  ["a pattern in a filter", { bool: { filter: [pattern] } }, true],
  ["a pattern with a constant score", { constant_score: { filter: pattern } }, true],
  ["the best of patterns", { dis_max: { queries: [pattern] } }, true],
  ["a pattern whose scores are changed", { function_score: { query: pattern, weight: 2 } }, true],
  ["a pattern beside a term that no document has", { bool: { must: [absent, pattern] } }, false],
  ["documents with a field", { exists: { field: "a" } }, true],
  ["a term", absent, false],
];

for (const [name, query, pauses] of CASES) {
  test(`${name} is ${pauses ? "" : "not "}prepared in steps, and found as without them`, async () => {
    filterCache().clear();
    const [shard] = index.shards;
    const context = new ShardContext(shard!.index, 0, shard!.searcher, 0);
    const { query: parsed } = parseSearchRequest({ query }, DEFAULT_LIMITS);
    const [segment] = shard!.searcher.segments;
    const weight = parsed.weight(context, { scores: true, boost: 1 });
    const control = new CountingControl();
    await weight.prepare?.(segment!, control);
    assert.equal(control.pauses > 0, pauses);
    const prepared = found(weight.scorer(segment!));
    const twin = parsed.weight(context, { scores: true, boost: 1 });
    const walked = found(twin.scorer(segment!));
    assert.equal(prepared, walked);
  });
}
