import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { hostsOf, searchOver } from "#test/support/search/hosts.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { parseCollapse, searchCollapsed } from "./collapse.ts";
import type { SearchResponse } from "./phases/contract.ts";

const MAPPING = { properties: { group: { type: "keyword" }, n: { type: "long" }, text: { type: "text" } } };
/** 40 documents of the group "big" before those of others, so that several rounds are needed. */
const DOCS: readonly JsonObject[] = [
  ...Array.from({ length: 40 }, (_, n) => ({ group: "big", n })),
  { group: "b", n: 50 },
  { group: "c", n: 51 },
  { group: "b", n: 52 },
  { n: 60 },
  { n: 61 },
];

const index = new IndexFixture({ mapping: MAPPING, docs: DOCS, shards: 2 });
after(() => index.close());

function search(body: JsonObject): Promise<SearchResponse> {
  const signal = new AbortController().signal;
  return searchCollapsed(body, parseCollapse(body)!, DEFAULT_LIMITS, index.shards, {
    signal,
    limits: DEFAULT_LIMITS,
  });
}

function numbers({ hits }: SearchResponse): unknown[] {
  return hits.map(({ sort }) => (sort as unknown[])[0]);
}

suite("a collapsed search", () => {
  test("has the best hit of each value, and counts all hits", async () => {
    const found = await search({ size: 4, sort: [{ n: "asc" }], collapse: { field: "group" } });
    assert.deepEqual(numbers(found), [0, 50, 51, 60]);
    assert.equal(found.total, DOCS.length);
    assert.deepEqual(found.hits[0]!["fields"], { group: ["big"] });
  });

  test("pages over values", async () => {
    const found = await search({ from: 1, size: 2, sort: [{ n: "asc" }], collapse: { field: "group" } });
    assert.deepEqual(numbers(found), [50, 51]);
  });

  test("shows further hits of each value", async () => {
    const inner = { name: "more", size: 2, sort: [{ n: "desc" }] };
    const found = await search({
      size: 2,
      sort: [{ n: "asc" }],
      query: { range: { n: { gte: 39 } } },
      collapse: { field: "group", inner_hits: inner },
    });
    const shown = found.hits.map((hit) => {
      const { hits } = (hit["inner_hits"] as { more: { hits: JsonObject } }).more;
      return [hits["total"], (hits["hits"] as { sort: number[] }[]).map(({ sort }) => sort[0])];
    });
    assert.deepEqual(shown, [
      [1, [39]],
      [2, [52, 50]],
    ]);
  });

  test("is refused on text, on unknown fields, and beside search_after and rescore", async () => {
    await assert.rejects(search({ collapse: { field: "text" } }), /unknown type for collapse field `text`/);
    await assert.rejects(search({ collapse: { field: "nothing" } }), /no mapping found/);
    for (const other of ["search_after", "rescore"]) {
      assert.throws(
        () => parseCollapse({ collapse: { field: "group" }, [other]: [1] }),
        /cannot use `collapse`/,
      );
    }
  });
});

test("the value of a group is that of the column, whatever else hits show by its name", async () => {
  const other = new IndexFixture({
    analysis: { normalizer: { lower: { type: "custom", filter: ["lowercase"] } } },
    mapping: {
      properties: {
        k: { type: "keyword", normalizer: "lower" },
        short: { type: "keyword", ignore_above: 3 },
        n: { type: "long" },
      },
    },
    docs: [
      { k: "Foo", n: 1, short: "long 1" },
      { k: "FOO", n: 2, short: "long 2" },
      { k: "bar", n: 1, short: "abc" },
    ],
  });
  try {
    const groups = async (field: string, body: JsonObject): Promise<unknown[]> => {
      const whole = {
        ...body,
        sort: ["_doc"],
        _source: false,
        collapse: { field, inner_hits: { name: "i" } },
      };
      const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
      const shards = other.shards;
      const { hits } = await searchCollapsed(whole, parseCollapse(whole)!, DEFAULT_LIMITS, shards, options);
      return hits.map((hit) => (hit["fields"] as JsonObject | undefined)?.[field]);
    };
    assert.deepEqual(await groups("k", { fields: ["*"] }), [["foo"], ["bar"]]);
    assert.deepEqual(await groups("k", { script_fields: { k: { script: "doc['n'].value" } } }), [
      ["foo"],
      ["bar"],
    ]);
    assert.deepEqual(await groups("n", { docvalue_fields: [{ field: "n", format: "'same'" }] }), [[1], [2]]);
    assert.deepEqual(await groups("short", { fields: ["short"] }), [undefined, ["abc"]]);
  } finally {
    other.close();
  }
});

test("hits are collapsed by numbers with a fraction, on one host and on several", async () => {
  const fractions = new IndexFixture({
    mapping: { properties: { d: { type: "double" }, f: { type: "float" } } },
    docs: [0.1, 2, 0.1, 2, 1e10, 2, 1e10, 0.1, 2, 2].map((each) => ({ d: each, f: each })),
    shards: 2,
  });
  try {
    for (const field of ["d", "f"]) {
      const body = { size: 3, sort: ["_doc"], collapse: { field, inner_hits: { name: "i", size: 0 } } };
      const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
      const shards = fractions.shards;
      const alone = await searchCollapsed(body, parseCollapse(body)!, DEFAULT_LIMITS, shards, options);
      const demand = { limits: DEFAULT_LIMITS, version: 717, nowMs: 0 };
      for (const { hits } of [alone, await searchOver(hostsOf(shards, 2), body, demand)]) {
        const counts = hits.map(
          ({ inner_hits }) => (inner_hits as { i: { hits: JsonObject } }).i.hits["total"],
        );
        assert.deepEqual(counts, [3, 5, 2], field);
      }
    }
  } finally {
    fractions.close();
  }
});
