import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { hitsFixture } from "#test/support/search/hits.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import type { SearchCursor } from "./phases/contract.ts";
import { searchShards } from "./search.ts";

const fixture = hitsFixture();
const { one, many } = fixture;
after(() => fixture.close());

describe("pages", () => {
  for (const sort of [
    [{ n: "asc" }],
    [{ host: "desc" }],
    [{ x: "asc" }, { n: "desc" }],
    [{ at: "desc" }],
    [{ _id: "desc" }],
  ]) {
    test(`search_after goes through all hits by ${JSON.stringify(sort)}`, async () => {
      for (const index of [one, many]) {
        const all = await index.ids({ sort });
        const paged: string[] = [];
        let after: unknown;
        for (;;) {
          const { hits } = await index.search({
            sort,
            size: 1,
            ...(after === undefined ? {} : { search_after: after }),
          });
          if (hits.length === 0) break;
          paged.push(String(hits[0]!["_id"]));
          // As a client sends it back: through JSON.
          const text = JSON.stringify(hits[0]!["sort"], (_k, v: unknown) =>
            typeof v === "bigint" ? `#${v}` : v,
          );
          after = JSON.parse(text, (_k, v: unknown) =>
            typeof v === "string" && v.startsWith("#") ? BigInt(v.slice(1)) : v,
          );
        }
        assert.deepEqual(paged, all);
      }
    });
  }

  for (const body of [
    {},
    { sort: ["_doc"] },
    { query: { match: { name: "quick" } } },
    { sort: [{ nothing: { unmapped_type: "long" } }] },
  ]) {
    test(`a cursor goes through all hits of ${JSON.stringify(body)}, equal ranks included`, async () => {
      for (const index of [one, many]) {
        const all = await index.ids(body);
        const paged: string[] = [];
        let cursor: SearchCursor | undefined;
        for (;;) {
          const page = await index.search({ ...body, size: 1 }, cursor === undefined ? {} : { cursor });
          if (page.hits.length === 0) break;
          paged.push(String(page.hits[0]!["_id"]));
          cursor = page.cursor!;
        }
        assert.deepEqual(paged, all);
      }
    });
  }

  test("from and size cut a window, which is limited", async () => {
    assert.deepEqual(await one.ids({ sort: ["n"], from: 1, size: 2 }), ["c", "a"]);
    assert.deepEqual(await one.ids({ sort: ["n"], from: 9 }), []);
    await assert.rejects(one.search({ from: 9_999, size: 2 }), { code: "window_too_large" });
    await assert.rejects(one.search({ from: -1 }), {
      message: "[from] parameter cannot be negative, found [-1]",
    });
    await assert.rejects(one.search({ search_after: [1], sort: [] }), /Sort must contain at least one field/);
    await assert.rejects(
      one.search({ search_after: [1, 2], sort: ["n"] }),
      /search_after has 2 value\(s\) but sort has 1/,
    );
  });
});

describe("a search", () => {
  test("is over when its client goes away", async () => {
    const gone = AbortSignal.abort();
    const big = new IndexFixture({ docs: Array.from({ length: 3000 }, (_, n) => ({ n })) });
    try {
      // A clock on which each look takes 10 ms, so that every pause is due.
      let nowMs = 0;
      const clock = { now: () => 0, monotonic: () => (nowMs += 10), sleep: () => Promise.resolve() };
      await assert.rejects(big.search({ query: { range: { n: { gt: 5 } } } }, { signal: gone, clock }), {
        code: "cancelled",
      });
      nowMs = 0;
      const late = await big.search({ timeout: "15ms", aggs: { m: { max: { field: "n" } } } }, { clock });
      assert.equal(late.timedOut, true);
      assert.ok(late.total! > 0 && late.total! < 3000);
    } finally {
      big.close();
    }
  });

  test("stops after terminate_after documents of a shard", async () => {
    const { total, terminatedEarly } = await one.search({ terminate_after: 2 });
    assert.deepEqual([total, terminatedEarly], [2, true]);
  });

  test("counts exactly by default", async () => {
    assert.equal((await one.search({ track_total_hits: false })).total, undefined);
    assert.equal((await one.search({ size: 1 })).total, 4);
  });

  test("of some failing shards is partial, of all fails with each failure", async () => {
    const other = new IndexFixture({ docs: [{ n: "text" }], index: "other" });
    try {
      const shards = [...one.shards, ...other.shards];
      const request = parseSearchRequest({ sort: ["n"] }, DEFAULT_LIMITS);
      const response = await searchShards(request, shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
      });
      assert.equal(response.shards.successful, 1);
      assert.equal(response.shards.failures[0]!.index, "other");
      assert.equal(response.hits.length, 4);
    } finally {
      other.close();
    }
  });
});

describe("many documents in many segments", () => {
  const docs = Array.from({ length: 5000 }, (_, n) => ({
    n,
    word: n % 3 === 0 ? "three" : "other",
    half: Math.floor(n / 2),
    text: `${"a ".repeat(n % 7)}b`,
  }));
  const index = new IndexFixture({ docs, segmentDocs: 2200, deleted: ["4999", "10"] });
  after(() => index.close());

  test("are counted, ranged and sorted as by a plain filter of the list", async () => {
    const live = docs.filter(({ n }) => n !== 4999 && n !== 10);
    const top = await index.search({
      query: { range: { half: { gte: 100, lt: 2000 } } },
      sort: [{ n: "desc" }],
      size: 3,
    });
    const expected = live.filter(({ half }) => half >= 100 && half < 2000);
    assert.equal(top.total, expected.length);
    assert.deepEqual(
      top.hits.map((hit) => hit["_id"]),
      expected
        .slice(-3)
        .reverse()
        .map(({ n }) => String(n)),
    );
    const both = await index.ids({
      query: { bool: { must: [{ match: { word: "three" } }], filter: [{ range: { n: { lt: 30 } } }] } },
      sort: ["n"],
    });
    assert.deepEqual(
      both,
      live.filter(({ n }) => n % 3 === 0 && n < 30).map(({ n }) => String(n)),
    );
  });

  test("have the same best hits whether blocks are skipped or not", async () => {
    const skipped = await index.search({ query: { match: { text: "a" } }, size: 5 });
    const walked = await index.search({
      query: { match: { text: "a" } },
      size: 5,
      aggs: { all: { max: { field: "n" } } },
    });
    assert.deepEqual(
      skipped.hits.map((hit) => [hit["_id"], hit["_score"]]),
      walked.hits.map((hit) => [hit["_id"], hit["_score"]]),
    );
    assert.equal(skipped.total, walked.total);
    assert.equal(skipped.maxScore, walked.maxScore);
  });
});
