import assert from "node:assert/strict";
import { after, test } from "node:test";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { nestedCache } from "#hub/engine/segment/nested-cache.ts";
import { SnapshotReader } from "#hub/engine/segment/snapshot-reader.ts";
import { collectCount } from "#hub/search/count.ts";
import { filterQuery } from "#hub/search/phases/search-call.ts";
import { parseQueryRequest } from "#hub/search/request/search-request.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { NestedScope } from "./nested-scope.ts";

/** More parents than are read before a pause. */
const DOCS = 600;

const index = new IndexFixture({
  mapping: { properties: { c: { type: "nested", properties: { n: { type: "long" } } } } },
  docs: Array.from({ length: DOCS }, (_, n) => ({ c: [{ n }, { n: n + 1 }] })),
});
after(() => index.close());
const [shard] = index.shards as [(typeof index.shards)[0]];

const isFull = (error: AppError): boolean => error.code === "memory_limit";

function finish(steps: Generator): void {
  while (steps.next().done !== true);
}

/** Releases the blocks that were made. */
function forget(): void {
  for (const segment of shard.searcher.segments)
    nestedCache().drop(segment instanceof SnapshotReader ? segment.segment : segment);
}

test("nested objects are made one search at a time, in memory that is not that of indexing", (t) => {
  finish(NestedScope.of(shard.searcher).prepare("c"));
  forget();
  // Reading sources has taken what it needs by now.
  const before = threadKernel().memory.usedBytes;
  const first = NestedScope.of(shard.searcher).prepare("c");
  t.after(() => first.return());
  assert.equal(first.next().done, false);
  assert.equal(threadKernel().memory.usedBytes, before);
  const scope = NestedScope.of(shard.searcher);
  const second = scope.prepare("c");
  assert.deepEqual(second.next(), { done: false, value: "waits" });
  assert.throws(() => scope.below("c"), isFull);
  first.return();
  finish(second);
  assert.equal(scope.below("c")?.searcher.totalDocs, 2 * DOCS);
});

test("one search holds nested objects up to a limit", () => {
  const prepare = (maxBytes: number): void => finish(NestedScope.of(shard.searcher, maxBytes).prepare("c"));
  assert.throws(() => prepare(1_000), isFull);
  prepare(10_000_000);
});

test("what the filter of a shard reads is prepared with pauses too", async () => {
  forget();
  const query = { nested: { path: "c", query: { range: { "c.n": { lt: 10 } } } } };
  const filtered = { ...shard, ...filterQuery({ anyOf: [query] }) };
  const other = NestedScope.of(shard.searcher).prepare("c");
  other.next();
  const counting = collectCount(parseQueryRequest({}), [filtered], new AbortController().signal);
  other.return();
  assert.deepEqual(await counting, { count: 10, counted: 1, failures: [] });
});
