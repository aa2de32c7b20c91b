import assert from "node:assert/strict";
import { after, describe, mock, test } from "node:test";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** Scores as a 6.5 server gives them: fuzzy terms, terms across fields, texts without words. */

const fixture = new IndexFixture({
  mapping: {
    properties: {
      title: { type: "text" },
      body: { type: "text" },
      empty: { type: "text" },
      open: { type: "boolean" },
      place: { type: "geo_point" },
    },
  },
  docs: [
    { title: "presentation", body: "blue monkey", empty: "--", open: true, place: [0.5, 0.5] },
    { title: "presentations", body: "red lion", empty: "word", open: true },
    { title: "presentatons", body: "red monkey", empty: "...", open: false },
    { title: "red", body: "presented green" },
  ],
  segmentDocs: 3,
});
after(() => fixture.close());

async function scores(query: JsonObject): Promise<[id: unknown, score: number][]> {
  const { hits } = await fixture.search({ query });
  return hits.map((hit: Hit) => [hit["_id"], hit["_score"] as number]);
}

describe("fuzzy terms", () => {
  test("score less with each edit and have one document frequency", async () => {
    const found = await scores({ fuzzy: { title: { value: "presentations", fuzziness: 2 } } });
    assert.deepEqual(
      found.map(([id]) => id),
      ["1", "0", "2"],
    );
    const [exact, one] = [found[0]![1], found[1]![1]];
    assert.ok(Math.abs(one / exact - (1 - 1 / 12)) < 1e-6, `${one} of ${exact}`);
  });

  test("are as many as max_expansions allows, those with the fewest edits first", async () => {
    const fuzzy = { value: "presentations", fuzziness: 2, max_expansions: 1 };
    assert.deepEqual(
      (await scores({ fuzzy: { title: fuzzy } })).map(([id]) => id),
      ["1"],
    );
    const filtered = await scores({ bool: { filter: [{ fuzzy: { title: fuzzy } }] } });
    assert.deepEqual(
      filtered.map(([id]) => id),
      ["1"],
    );
  });
});

test("cross_fields reads statistics of fields for scores only", async () => {
  const query = { query_string: { query: "red monkey", type: "cross_fields" } };
  const stats = mock.method(ShardContext.prototype, "fieldStats");
  const { hits } = await fixture.search({ query, sort: ["_doc"] });
  assert.deepEqual([hits.length, stats.mock.callCount()], [4, 0]);
  await fixture.search({ query });
  assert.notEqual(stats.mock.callCount(), 0);
  stats.mock.restore();
});

test("cross_fields with the operator and finds each term in any field", async () => {
  const query = {
    query: "red presentations",
    type: "cross_fields",
    operator: "and",
    fields: ["title", "body"],
  };
  assert.deepEqual(
    (await scores({ multi_match: query })).map(([id]) => id),
    ["1"],
  );
  const best = { ...query, type: "best_fields" };
  assert.deepEqual(await scores({ multi_match: best }), []);
});

test("minimum_should_match above the number of clauses matches nothing", async () => {
  const should = [{ match: { body: "red" } }];
  assert.deepEqual(await scores({ bool: { should, minimum_should_match: 2 } }), []);
  assert.deepEqual(await scores({ match: { body: { query: "red lion", minimum_should_match: 3 } } }), []);
  assert.equal((await scores({ bool: { should, minimum_should_match: 1 } })).length, 2);
});

test("match_phrase_prefix of one word adds the scores of the words that begin with it", async () => {
  const [[, prefixed]] = (await scores({ match_phrase_prefix: { title: "presentatio" } })) as [
    [string, number],
  ];
  const [[, term]] = (await scores({ term: { title: "presentation" } })) as [[string, number]];
  assert.equal(prefixed, term);
});

test("texts without words don't count as documents with the field", async () => {
  const { hits } = await fixture.search({ query: { match: { empty: "word" } }, explain: true });
  const count = (explanation: {
    description: string;
    value: number;
    details: (typeof explanation)[];
  }): number[] =>
    explanation.description === "docCount"
      ? [explanation.value]
      : explanation.details.flatMap((each) => count(each));
  // ln(1 + (1 - 1 + 0.5) / (1 + 0.5)): one document, one with the term.
  assert.ok(Math.abs((hits[0]!["_score"] as number) - Math.log(4 / 3)) < 1e-6, String(hits[0]!["_score"]));
  assert.deepEqual(count(hits[0]!["_explanation"] as Parameters<typeof count>[0]), [1]);
});

test("hits sorted by the score among other keys show it", async () => {
  const { hits, maxScore } = await fixture.search({
    query: { match: { body: "red" } },
    sort: ["_score", "_doc"],
  });
  assert.equal(maxScore, null);
  assert.ok(
    hits.length === 2 && hits.every((hit) => hit["_score"] === Math.fround((hit["sort"] as number[])[0]!)),
  );
});

describe("keywords with a normalizer", () => {
  const index = new IndexFixture({
    mapping: { properties: { host: { type: "keyword", normalizer: "lowercase" } } },
    docs: [{ host: "WEB-One" }, { host: "web-two" }, { host: "DB" }],
  });
  after(() => index.close());

  const FOUND: readonly (readonly [query: JsonObject, ids: string[]])[] = [
    [{ prefix: { host: "WEB" } }, ["0", "1"]],
    [{ wildcard: { host: "WEB-*" } }, ["0", "1"]],
    [{ regexp: { host: "WEB-O.*" } }, ["0"]],
    [{ fuzzy: { host: { value: "WEB-TWE", fuzziness: 1 } } }, ["1"]],
    [{ range: { host: { gte: "WEB" } } }, ["0", "1"]],
    [{ match: { host: { query: "WEB-TWE", fuzziness: 1 } } }, ["1"]],
    [{ query_string: { query: "host:WEB-O*" } }, ["0"]],
    [{ query_string: { query: "host:/WEB-T.*/" } }, ["1"]],
    [{ query_string: { query: "host:[DA TO DC]" } }, ["2"]],
  ];
  for (const [query, ids] of FOUND) {
    test(`are found by ${JSON.stringify(query)}`, async () => {
      assert.deepEqual((await index.ids({ query })).sort(), ids);
    });
  }
});

/** Scores of a 6.5.4 server over the same documents, in one shard. */
const ORACLE: readonly (readonly [query: JsonObject, scores: [id: string, score: number][]])[] = [
  [
    { term: { open: true } },
    [
      ["0", 0.47000363],
      ["1", 0.47000363],
    ],
  ],
  [{ match: { open: "false" } }, [["2", 0.9808292]]],
  [{ match_phrase_prefix: { body: "red mo" } }, [["2", 2.7725887]]],
  [{ match_phrase_prefix: { body: "red l" } }, [["1", 3.79424]]],
  [{ fuzzy: { body: { value: "rde", fuzziness: 1 } } }, []],
  [
    { fuzzy: { body: { value: "rde", fuzziness: 1, transpositions: true } } },
    [
      ["1", 0.46209812],
      ["2", 0.46209812],
    ],
  ],
  [{ match: { body: { query: "rde", fuzziness: 1, fuzzy_transpositions: false } } }, []],
  [
    { simple_query_string: { query: "red", fields: ["title", "body"] } },
    [
      ["3", 1.2039728],
      ["1", Math.LN2],
      ["2", Math.LN2],
    ],
  ],
  [
    { simple_query_string: { query: "red + lion", fields: ["body"], flags: "NONE" } },
    [
      ["1", 1.89712],
      ["2", Math.LN2],
    ],
  ],
  [
    { simple_query_string: { query: "red -lion", fields: ["body"], flags: "OR|WHITESPACE" } },
    [
      ["1", 1.89712],
      ["2", Math.LN2],
    ],
  ],
  [{ simple_query_string: { query: '"red lion"', fields: ["body"], flags: "PHRASE" } }, [["1", 1.89712]]],
  [
    { simple_query_string: { query: String.raw`"red lion\"`, fields: ["body"], flags: "PHRASE" } },
    [["1", 1.89712]],
  ],
  [{ simple_query_string: { query: "r*", fields: ["title", "body"], flags: 2 } }, []],
  [
    { simple_query_string: { query: "r*", fields: ["title", "body"], flags: 8 } },
    [
      ["1", 1],
      ["2", 1],
      ["3", 1],
    ],
  ],
  [{ simple_query_string: { query: "mo~", fields: ["body"] } }, []],
  [{ query_string: { query: "red lion", fields: ["title", "body"], type: "phrase" } }, [["1", 1.89712]]],
  [
    { query_string: { query: "red mo", fields: ["title", "body"], type: "phrase_prefix" } },
    [["2", 2.7725887]],
  ],
  [
    { query_string: { query: "red lion", fields: ["title", "body"], type: "cross_fields" } },
    [
      ["1", 1.89712],
      ["2", Math.LN2],
      ["3", 0.35667494],
    ],
  ],
  [
    { query_string: { query: "red", fields: ["title", "body"], type: "most_fields" } },
    [
      ["3", 1.2039728],
      ["1", Math.LN2],
      ["2", Math.LN2],
    ],
  ],
  [
    { query_string: { query: "open:(true OR false) AND body:red" } },
    [
      ["2", 1.6739764],
      ["1", 1.1631508],
    ],
  ],
  [{ query_string: { query: "open:maybe OR body:lion" } }, [["1", 1.2039728]]],
  [
    { query_string: { query: "body:(>l AND <n)" } },
    [
      ["0", 2],
      ["1", 2],
      ["2", 2],
      ["3", 2],
    ],
  ],
  [{ query_string: { query: '"red"', fields: ["title"], quote_field_suffix: ".none" } }, [["3", 1.2039728]]],
  [{ geo_distance: { distance: "1m", place: "s00000000000" } }, []],
  [{ constant_score: { filter: { geo_distance: { distance: "80km", place: "s00" } } } }, [["0", 1]]],
];
for (const [query, expected] of ORACLE) {
  test(`${JSON.stringify(query)} scores as a 6.5 server does`, async () => {
    const found = await scores(query);
    assert.deepEqual(
      found.map(([id]) => id),
      expected.map(([id]) => id),
    );
    for (const [at, [, score]] of expected.entries())
      assert.ok(Math.abs(found[at]![1] - score) < 1e-5 * score, `${found[at]![1]}, not ${score}`);
  });
}
