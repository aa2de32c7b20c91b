import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** Scores as a 6.5 server gives them: fuzzy terms, terms across fields, texts without words. */

const fixture = new IndexFixture({
  mapping: {
    properties: { title: { type: "text" }, body: { type: "text" }, empty: { type: "text" } },
  },
  docs: [
    { title: "presentation", body: "blue monkey", empty: "--" },
    { title: "presentations", body: "red lion", empty: "word" },
    { title: "presentatons", body: "red monkey", empty: "..." },
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
  assert.ok(hits.length === 2 && hits.every((hit) => hit["_score"] === (hit["sort"] as number[])[0]));
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
