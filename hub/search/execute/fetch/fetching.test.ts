import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { DOCS, hitsFixture } from "#test/support/search/hits.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = hitsFixture();
const { one } = fixture;
after(() => fixture.close());

describe("fetching", () => {
  const hitOf = async (id: string, body: JsonObject): Promise<JsonObject> => {
    const { hits } = await one.search({ query: { ids: { values: [id] } }, ...body });
    return hits[0]!;
  };

  test("returns documents unchanged", async () => {
    const printed = await one.printed({ query: { ids: { values: ["d"] } } });
    assert.ok(printed.includes(`"_source":${DOCS["d"] as string}}`), printed);
  });

  /** [filter, what is left of d] */
  const FILTERS: readonly (readonly [filter: unknown, source: unknown])[] = [
    [false, undefined],
    [["name"], { name: "nothing  here" }],
    ["a.b", { a: { b: [{ c: 1, d: 2 }, { c: 3 }] } }],
    [["a.*.c"], { a: { b: [{ c: 1 }, { c: 3 }] } }],
    [{ includes: ["a"], excludes: ["a.b.d", "a.e"] }, { a: { b: [{ c: 1 }, { c: 3 }] } }],
    [{ excludes: ["a", "n*"] }, { price: 1 }],
    [["x*"], {}],
    [["*c"], { a: { b: [{ c: 1 }, { c: 3 }] } }],
    [{ includes: ["*d"] }, { a: { b: [{ d: 2 }] } }],
    [{ includes: ["a.b"], excludes: ["*c"] }, { a: { b: [{ d: 2 }] } }],
    [{ includes: ["a.b"], excludes: ["a.b.*"] }, { a: { b: [] } }],
  ];
  for (const [filter, source] of FILTERS) {
    test(`_source ${JSON.stringify(filter)} leaves ${JSON.stringify(source)}`, async () => {
      const hit = await hitOf("d", { _source: filter });
      assert.deepEqual(hit["_source"], source);
    });
  }

  test("returns versions, sequence numbers and column values where they are requested", async () => {
    const hit = await hitOf("b", {
      version: true,
      seq_no_primary_term: true,
      docvalue_fields: ["n", "host", "at", "ip", { field: "at", format: "yyyy" }, "_seq_no", "_id"],
      _source: false,
    });
    assert.equal(hit["_version"], 1);
    assert.equal(hit["_seq_no"], 1);
    assert.deepEqual(hit["fields"], {
      n: [1, 9],
      host: ["a"],
      at: ["2018-01-01T00:00:00.000Z", "2018"],
      ip: ["9.0.0.1"],
      _seq_no: [1],
      _id: ["b"],
    });
    const bare = await hitOf("b", { stored_fields: "_none_" });
    assert.deepEqual(Object.keys(bare), ["_index", "_score"]);
    const made = await hitOf("b", {
      stored_fields: "_none_",
      docvalue_fields: ["host"],
      script_fields: { twice: { script: "doc['n'].value * 2" } },
    });
    assert.deepEqual(made["fields"], { host: ["a"], twice: [2] });
  });

  test("returns points of columns as objects", async () => {
    const { fields } = await hitOf("a", { docvalue_fields: ["coordinates"], _source: false });
    const [point] = (fields as { coordinates: { lat: number; lon: number }[] }).coordinates;
    assert.deepEqual([Math.round(point!.lat * 100), Math.round(point!.lon * 1000)], [5252, 13_405]);
  });

  test("marks words of the query in order of the text", async () => {
    const hit = await hitOf("a", {
      query: { match: { name: "Quick brown" } },
      highlight: { fields: { name: {} } },
    });
    assert.deepEqual(hit["highlight"], {
      name: ["The <em>quick</em> <em>brown</em> fox is <em>brown</em>."],
    });
  });

  /** [query, options of the field, highlight of a] */
  const MARKS: readonly (readonly [query: JsonObject, options: JsonObject, marked: unknown])[] = [
    [
      { match_phrase: { name: "brown fox" } },
      {},
      { name: ["The quick <em>brown</em> <em>fox</em> is brown."] },
    ],
    [
      { prefix: { name: "bro" } },
      { pre_tags: ["["], post_tags: ["]"] },
      { name: ["The quick [brown] fox is [brown]."] },
    ],
    [{ match: { host: "b" } }, {}, undefined],
    [{ match: { host: "b" } }, { no_match_size: 5 }, { name: ["The quick"] }],
    [
      { query_string: { query: "quick" } },
      { number_of_fragments: 0 },
      { name: ["The <em>quick</em> brown fox is brown."] },
    ],
    [
      { bool: { must: [{ match: { name: "fox" } }], must_not: [{ match: { name: "dogs" } }] } },
      {},
      { name: ["The quick brown <em>fox</em> is brown."] },
    ],
  ];
  for (const [query, options, marked] of MARKS) {
    test(`highlights ${JSON.stringify(query)} with ${JSON.stringify(options)}`, async () => {
      const restricted = { bool: { must: [query], filter: [{ ids: { values: ["a"] } }] } };
      const hit = await hitOf("a", { query: restricted, highlight: { fields: { name: options } } });
      assert.deepEqual(hit["highlight"], marked);
    });
  }

  test("cuts long texts into the best passages", async () => {
    const words = Array.from({ length: 60 }, (_, at) => `Sentence number ${at} says nothing.`);
    words[20] = "Here is the needle, another needle.";
    words[50] = "One needle.";
    const index = new IndexFixture({ docs: [{ text: words.join(" ") }] });
    try {
      const { hits } = await index.search({
        query: { match: { text: "needle" } },
        highlight: { fields: { text: { fragment_size: 40, number_of_fragments: 1 } } },
      });
      assert.deepEqual(hits[0]!["highlight"], {
        text: ["Here is the <em>needle</em>, another <em>needle</em>."],
      });
    } finally {
      index.close();
    }
  });
});
