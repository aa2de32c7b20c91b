import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { hitsFixture } from "#test/support/search/hits.ts";

const fixture = hitsFixture();
const { one, many } = fixture;
after(() => fixture.close());

/** Ids in their order, the same over one segment and over many shards. */
async function order(sort: unknown, body: JsonObject = {}): Promise<string> {
  const ids = (await one.ids({ sort, ...body })).join("");
  assert.equal((await many.ids({ sort, ...body })).join(""), ids, "over shards");
  return ids;
}

const byScript = (source: string, direction: string): JsonObject => ({
  _script: { type: "number", order: direction, script: { source, params: { by: 2 } } },
});

/** [sort, ids in order] */
const ORDERS: readonly (readonly [sort: unknown, ids: string])[] = [
  [[{ n: "asc" }], "bcad"],
  [[{ n: "desc" }], "dbac"],
  [[{ n: { order: "desc", mode: "min" } }], "dacb"],
  [[{ n: { order: "asc", mode: "avg" } }], "cabd"],
  [["host"], "bacd"],
  [[{ host: "desc" }], "cabd"],
  [[{ host: { order: "asc", missing: "_first" } }], "dbac"],
  [[{ host: { order: "asc", missing: "aa" } }], "bdac"],
  [[{ x: "asc" }], "cabd"],
  [[{ x: { order: "desc", missing: "_first" } }, { n: "desc" }], "dbac"],
  [[{ x: { order: "asc", missing: 0 } }, { n: "asc" }], "cbda"],
  [[{ at: { order: "desc" } }], "acbd"],
  [[{ nothing: { unmapped_type: "long" } }, { n: "asc" }], "bcad"],
  [[{ ip: "asc" }, "n"], "bacd"],
  [["_id"], "abcd"],
  [["_index", { _type: "desc" }, { _id: "desc" }], "dcba"],
  [[{ _id: "desc" }], "dcba"],
  [[{ _geo_distance: { coordinates: { lat: 52.5, lon: 13.4 }, order: "asc", unit: "km" } }], "acbd"],
  [[{ _geo_distance: { coordinates: { lat: 52.5, lon: 13.4 }, order: "desc", unit: "km" } }], "dcba"],
  [[{ _geo_distance: { coordinates: "48.1,11.5", order: "asc", mode: "max" } }], "bacd"],
  [[byScript("doc['x'].size() == 0 ? 5 : -doc['x'].value", "asc")], "acbd"],
  [[byScript("doc['n'].value % 4 + doc['x'].value * 0", "asc"), "host"], "bdca"],
  [[byScript("_score * params.by", "desc"), { n: "asc" }], "bcad"],
];

describe("sorting", () => {
  for (const [sort, ids] of ORDERS) {
    test(`by ${JSON.stringify(sort)} gives ${ids}`, async () => assert.equal(await order(sort), ids));
  }

  test("by the text of a script, or the number of one with loops, like by a field", async () => {
    const text = {
      source: "doc['host'].size() == 0 ? 'zz' : doc['host'].value + params.end",
      params: { end: "!" },
    };
    assert.equal(await order([{ _script: { script: text, type: "string" } }]), "badc");
    assert.equal(await order([{ _script: { script: text, type: "string", order: "desc" } }]), "cdab");
    const source = "int n = 0; for (v in doc['n']) { n -= (int) v } return n";
    const sort = [{ _script: { script: source, type: "number" } }, "_id"];
    const { hits } = await one.search({ sort });
    assert.equal(typeof (hits[0]!["sort"] as unknown[])[0], "number");
    const { hits: found } = await one.search({
      sort: { _script: { script: text, type: "string" } },
      size: 1,
    });
    assert.deepEqual(found[0]!["sort"], ["a!"]);
    await assert.rejects(
      async () => one.ids({ sort: { _script: { script: "'' + _score", type: "string" } } }),
      { code: "not_offered" },
    );
  });

  test("by a script's text isn't a field of what patterns mean", async () => {
    const sort = [{ _script: { script: "'nowhere ' + doc['n'].value", type: "string" } }, "_id"];
    const queries: readonly JsonObject[] = [
      { query_string: { query: "nowhere*" } },
      { query_string: { query: "nowhere*", fields: ["*"] } },
      { simple_query_string: { query: "nowhere*", fields: ["*"] } },
      { multi_match: { query: "nowhere 3", fields: ["*"], lenient: true } },
      { more_like_this: { like: "nowhere 3", fields: ["*"], min_term_freq: 1, min_doc_freq: 0 } },
      { exists: { field: "_sort*" } },
    ];
    for (const query of queries)
      assert.deepEqual(await one.ids({ query, sort }), await one.ids({ query }), JSON.stringify(query));
    const { hits } = await one.search({
      query: { match: { name: "quick" } },
      sort,
      docvalue_fields: ["*"],
      fields: ["*"],
      highlight: { fields: { "*": { require_field_match: false } } },
    });
    assert.ok(hits.length > 0 && hits.every(({ fields }) => fields !== undefined));
    for (const { fields, highlight = {} } of hits)
      assert.doesNotMatch(JSON.stringify([fields, highlight]), /_sort|nowhere/);
  });

  test("by a script shows its numbers, and refuses NaN", async () => {
    const sort = [byScript("doc['x'].value * 2", "desc")];
    const { hits } = await one.search({ sort, size: 2 });
    assert.deepEqual(
      hits.map((hit) => hit["sort"]),
      [[3], [0]],
    );
    const after = await one.ids({ sort: [...sort, "_id"], search_after: [0, "b"] });
    assert.deepEqual(after, ["d", "c"]);
    await assert.rejects(
      async () =>
        one.ids({ sort: [byScript("0.0 / doc['n'].size() * 0", "asc"), byScript("0.0 / 0", "asc")] }),
      {
        code: "request_invalid",
      },
    );
  });

  test("by a script that takes long for each document is refused", async () => {
    const source = "params.text.replace('a', 'b').length() + doc['n'].value";
    const script = { source, params: { text: "a".repeat(100_000) } };
    await assert.rejects(
      async () => one.ids({ sort: [{ _script: { script, type: "number" } }] }),
      ({ cause }: Error) => /maximum number of statements/.test(JSON.stringify((cause as AppError).data)),
    );
  });

  test("shows the values it went by", async () => {
    const shown = async (sort: JsonObject): Promise<unknown[]> =>
      (await one.search({ sort: [sort] })).hits.map((hit) => (hit["sort"] as unknown[])[0]);
    assert.deepEqual(await shown({ n: "asc" }), [1, 2, 3, 9007199254740993n]);
    assert.deepEqual(await shown({ host: "asc" }), ["a", "b", "ü", null]);
    assert.deepEqual((await shown({ x: "asc" })).slice(0, 3), [-4, 1.5, "Infinity"]);
    assert.deepEqual((await shown({ at: "asc" })).slice(2), [Date.parse("2018-01-03"), 9223372036854775807n]);
    const [nearest] = await shown({ _geo_distance: { coordinates: [13.405, 52.52], unit: "km" } });
    assert.ok((nearest as number) < 0.01);
    const far = await shown({ _geo_distance: { coordinates: [13.405, 52.52], unit: "km" } });
    assert.ok(
      Math.abs((far[1] as number) - 255.2) < 1,
      `Berlin to Hamburg is about 255 km, not ${String(far[1])}`,
    );
    assert.equal(far[3], "Infinity");
  });

  test("leaves scores out unless they are tracked", async () => {
    const plain = await one.search({ query: { match: { name: "quick" } }, sort: ["n"] });
    assert.equal(plain.maxScore, null);
    assert.equal(plain.hits[0]!["_score"], null);
    const tracked = await one.search({
      query: { match: { name: "quick" } },
      sort: ["n"],
      track_scores: true,
    });
    assert.ok(tracked.maxScore! > 0 && Number(tracked.hits[0]!["_score"]) > 0);
  });

  test("the best score is that of all documents, in whatever order they come", async () => {
    const query = { match: { name: "quick" } };
    const { maxScore } = await one.search({ query });
    for (const sort of [[{ n: "asc" }], [{ n: "desc" }]]) {
      const sorted = await one.search({ query, sort, size: 1, track_scores: true });
      assert.equal(sorted.maxScore, maxScore);
    }
  });

  test("refuses fields that can't be sorted by", async () => {
    for (const [sort, message] of [
      ["nothing", /No mapping found for \[nothing\] in order to sort on/],
      ["name", /Fielddata is disabled on text fields by default/],
      ["coordinates", /geo_distance/],
      [{ _geo_distance: { host: [0, 0] } }, /geo_point fields only/],
      [{ n: "upwards" }, /must be one of asc, desc/],
      [{ _geo_distance: { coordinates: { lat: 91, lon: 0 } } }, /illegal latitude value/],
    ] as const) {
      await assert.rejects(one.search({ sort: [sort] }), (error) => {
        assert.ok(error instanceof AppError && error.status === 400);
        assert.match(error.cause instanceof AppError ? error.cause.message : error.message, message);
        return true;
      });
    }
  });
});
