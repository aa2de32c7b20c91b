/** What runtime fields take of the thread, the memory and the time of a search, and what they must not show. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { nestedCache } from "#hub/engine/segment/nested-cache.ts";
import { filterQuery } from "#hub/search/phases/search-call.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { readRuntimeFields, withRuntimeFields } from "#hub/search/scripting/runtime-fields.ts";
import { searchShards } from "#hub/search/search.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const COUNT = 300;
const docs = Array.from({ length: COUNT }, (_, n) => ({ n, team: n % 2 === 0 ? "red" : "blue" }));
const mapping = { properties: { team: { type: "keyword" }, n: { type: "long" } } };
const index = new IndexFixture({ docs, mapping, segmentDocs: 100 });
after(() => index.close());

const TWO = {
  first: { type: "long", script: "emit(1)" },
  second: { type: "long", script: "emit(doc['first'].value + doc['n'].value)" },
};

function work(loops: number): object {
  return { type: "long", script: `long sum = 0; for (int i = 0; i < ${loops}; i++) { sum += i; } emit(sum)` };
}

test("others get the thread between two documents", () => {
  const steps = withRuntimeFields(
    readRuntimeFields({ k: work(11) }),
    index.shards[0]!,
    index.shards[0]!.searcher.segments[0]!,
  );
  let pauses = 0;
  while (steps.next().done !== true) pauses++;
  assert.equal(pauses, 100);
});

test("the script of one document may not keep the thread for long", async () => {
  const failed: unknown = await index.search({ runtime_mappings: { k: work(200_000) } }).catch(String);
  assert.match(String(failed), /failed/);
  const { aggregations } = await index.search({
    size: 0,
    aggs: { k: { max: { field: "k" } } },
    runtime_mappings: { k: work(1_000) },
  });
  assert.deepEqual(aggregations, { k: { value: 499_500 } });
});

test("a document may not have more than a million letters", async () => {
  const script =
    "String s = 'abcdefgh'; for (int i = 0; i < 12; i++) s = s + s; for (int i = 0; i < 40; i++) emit(i + s)";
  const body = { query: { exists: { field: "k" } }, runtime_mappings: { k: { type: "keyword", script } } };
  await assert.rejects(
    async () => index.search(body),
    (error: AppError) =>
      /is emitting \[\d+\] characters while the maximum number of values allowed is \[1048576\]/.test(
        JSON.stringify((error.cause as AppError).data),
      ),
  );
});

test("the time of a request ends what computes its fields; what was found until then is the answer", async () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonic: () => nowMs++ };
  const body = {
    size: 0,
    timeout: "250ms",
    aggs: { k: { value_count: { field: "k" } } },
    runtime_mappings: { k: { type: "long", script: "emit(doc['n'].value * 7)" } },
  };
  const { timedOut, aggregations } = await index.search(body, { clock });
  assert.equal(timedOut, true);
  assert.deepEqual(aggregations, { k: { value: 0 } });
});

test("what is computed is found in the cache, and leaves it with the segment", async () => {
  const before = nestedCache().sizeBytes;
  const closed = new IndexFixture({ docs, mapping });
  const body = { size: 0, aggs: { sum: { sum: { field: "second" } } }, runtime_mappings: TWO };
  const sum = { sum: { value: COUNT + (COUNT * (COUNT - 1)) / 2 } };
  assert.deepEqual((await closed.search(body)).aggregations, sum);
  const once = nestedCache().sizeBytes;
  assert.ok(once > before);
  assert.deepEqual((await closed.search(body)).aggregations, sum);
  assert.equal(nestedCache().sizeBytes, once);
  closed.close();
  assert.equal(nestedCache().sizeBytes, before);
});

test("what an alias hides stays hidden, whatever fields a search defines", async () => {
  const filter = filterQuery({ anyOf: [{ term: { team: "red" } }] });
  const shards = index.shards.map((shard) => ({ ...shard, ...filter }));
  const redefined = { team: { type: "keyword", script: "emit('red')" } };
  const total = async (body: object): Promise<number | undefined> => {
    const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
    return (await searchShards(parseSearchRequest(body as never, DEFAULT_LIMITS), shards, options)).total;
  };
  assert.equal(await total({}), COUNT / 2);
  for (const query of [{ match_all: {} }, { term: { team: "red" } }])
    assert.equal(await total({ query, runtime_mappings: redefined }), COUNT / 2);
  assert.equal(await total({ query: { term: { team: "blue" } }, runtime_mappings: redefined }), 0);
});

test("a script that fails for documents that nobody looks at fails no search", async () => {
  const some = new IndexFixture({
    docs: { a: { m: "1", n: 1 }, b: { m: "x", n: 2 }, c: { m: "3", n: 3 }, gone: { m: "y", n: 4 } },
    deleted: ["gone"],
    mapping: { properties: { m: { type: "keyword" }, n: { type: "long" } } },
  });
  const k = { type: "long", script: "emit(Long.parseLong(doc['m'].value))" };
  const text = { type: "keyword", script: "emit(Long.parseLong(doc['m'].value) + '!')" };
  const twice = { type: "long", script: "emit(2 * doc['k'].value)" };
  const good = { bool: { must_not: { term: { n: 2 } } } };
  const ask = { fields: ["k", "text"], sort: [{ k: "desc" }], runtime_mappings: { k, text, twice } };
  const aggs = {
    sum: { sum: { field: "twice" } },
    text: { terms: { field: "text" }, aggs: { n: { max: { field: "n" } } } },
    count: { terms: { field: "text" } },
  };
  const { hits, aggregations } = await some.search({ ...ask, query: good, aggs });
  assert.deepEqual(
    hits.map((hit) => hit["fields"]),
    [
      { k: [3], text: ["3!"] },
      { k: [1], text: ["1!"] },
    ],
  );
  assert.deepEqual(aggregations?.["sum"], { value: 8 });
  assert.deepEqual(await some.ids({ ...ask, fields: [], sort: ["n"] }), ["a", "b", "c"]);
  const failing: readonly object[] = [
    { fields: ["k"], sort: ["n"] },
    { sort: ["k"] },
    { size: 0, aggs: { sum: { sum: { field: "twice" } } } },
    { size: 0, aggs: { text: { terms: { field: "text" } } } },
    { size: 0, aggs: { none: { missing: { field: "k" } } } },
    { size: 0, query: good, aggs: { all: { global: {}, aggs: { sum: { sum: { field: "k" } } } } } },
    { query: { range: { k: { gte: 2 } } } },
    { query: { term: { text: "1!" } } },
    { query: { prefix: { text: "1" } } },
    { query: { exists: { field: "k" } } },
    { query: { script: { script: "doc['k'].value > 1" } } },
  ];
  for (const body of failing)
    await assert.rejects(
      async () => some.search({ ...body, runtime_mappings: ask.runtime_mappings }),
      JSON.stringify(body),
    );
  some.close();
});
