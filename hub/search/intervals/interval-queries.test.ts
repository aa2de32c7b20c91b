import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      text: { type: "text" },
      stopped: { type: "text", analyzer: "stop" },
      bare: { type: "text", index_options: "docs" },
    },
  },
  docs: [
    { n: 1, text: "Some like it hot, some like it cold" },
    { n: 2, text: "Its cold outside, theres no kind of atmosphere" },
    { n: 3, text: "Baby its cold there outside" },
    { n: 4, text: "Outside it is cold and wet" },
    { n: 5, stopped: "open the door" },
    { n: 6, text: ["cold", "outside"] },
  ],
  segmentDocs: 2,
});
after(() => fixture.close());

async function found(rule: JsonObject, field = "text"): Promise<unknown[]> {
  const { hits } = await fixture.search({ query: { intervals: { [field]: rule } }, sort: ["n"] });
  return hits.map((hit) => (JSON.parse(JSON.stringify(hit.sort)) as unknown[])[0]);
}

const cold = { match: { query: "cold" } };
const match = (query: string, options: JsonObject = {}): JsonObject => ({ match: { query, ...options } });
const phrase = { max_gaps: 0, ordered: true };

/** [rule, documents] */
const FOUND: readonly (readonly [rule: JsonObject, documents: number[]])[] = [
  [match("cold outside"), [2, 3, 4, 6]],
  [match("cold outside", { ordered: true }), [2, 3, 6]],
  [match("COLD outside", phrase), [2]],
  [match("cold outside", { max_gaps: 1 }), [2, 3]],
  [match("outside cold", { max_gaps: 2, ordered: true }), [4]],
  [match("cold outside", { mode: "ordered" }), [2, 3, 6]],
  [match("cold outside", { mode: "unordered" }), [2, 3, 4, 6]],
  [{ all_of: { intervals: [match("it cold"), match("cold")] } }, [1, 4]],
  [{ all_of: { intervals: [match("it cold"), match("cold")], mode: "unordered_no_overlap" } }, []],
  [{ regexp: { pattern: "at[a-z]{2,}here" } }, [2]],
  [{ regexp: { pattern: "AT[A-Z]{2,}here" } }, []],
  [{ regexp: { pattern: "AT[A-Z]{2,}here", case_insensitive: true } }, [2]],
  [match("cold elsewhere"), []],
  [{ any_of: { intervals: [match("hot"), match("wet")] } }, [1, 4]],
  [{ all_of: { intervals: [match("some like"), match("it cold", phrase)], ordered: true } }, [1]],
  [
    {
      all_of: {
        intervals: [{ any_of: { intervals: [cold, match("outside")] } }, match("atmosphere")],
        ordered: true,
        max_gaps: 3,
      },
    },
    [],
  ],
  [{ all_of: { intervals: [cold, { prefix: { prefix: "OUT" } }] } }, [2, 3, 4, 6]],
  [{ all_of: { intervals: [cold, { wildcard: { pattern: "out?ide" } }], max_gaps: 0 } }, [2]],
  [{ all_of: { intervals: [{ fuzzy: { term: "cald" } }, match("wet")] } }, [4]],
  [{ fuzzy: { term: "hat", fuzziness: 0 } }, []],
  [match("cold outside", { filter: { containing: match("is") } }), [4]],
  [match("cold outside", { filter: { not_containing: match("is") } }), [2, 3, 6]],
  [match("is", { filter: { contained_by: match("cold outside") } }), [4]],
  [match("cold", { filter: { not_contained_by: match("it cold", phrase) } }), [2, 3, 4, 6]],
  [match("cold", { filter: { before: match("outside") } }), [2, 3, 6]],
  [match("cold", { filter: { after: match("outside") } }), [4]],
  [match("cold outside", { filter: { overlapping: match("baby cold") } }), [3]],
  [match("cold outside", { filter: { not_overlapping: match("baby cold") } }), [2, 4, 6]],
  [match("open door", { use_field: "stopped", ordered: true, max_gaps: 1 }), [5]],
  [match("open door", { use_field: "stopped", ...phrase }), []],
  [match("open the door", { use_field: "stopped", ...phrase }), [5]],
];
for (const [rule, documents] of FOUND) {
  test(`${JSON.stringify(rule)} is found`, async () => {
    assert.deepEqual(await found(rule), documents);
  });
}

test("a field that isn't mapped has no intervals", async () => {
  assert.deepEqual(await found(cold, "nowhere"), []);
});

test("shorter intervals score more, and the boost multiplies", async () => {
  const scoresOf = async (boost: number): Promise<Map<unknown, number>> => {
    const { hits } = await fixture.search({
      query: { intervals: { text: { ...match("cold outside"), boost } } },
    });
    return new Map(
      hits.map((hit) => [
        (JSON.parse(JSON.stringify(hit["_source"])) as JsonObject)["n"],
        Math.fround(Number(hit["_score"])), // single precision, printed as few digits
      ]),
    );
  };
  const scores = await scoresOf(1);
  assert.ok(scores.get(2)! > scores.get(3)! && scores.get(3)! > scores.get(4)!);
  assert.equal((await scoresOf(2)).get(2), 2 * scores.get(2)!);
});

test("words of intervals are marked", async () => {
  const { hits } = await fixture.search({
    query: { intervals: { text: match("hot cold") } },
    highlight: { fields: { text: {} } },
  });
  assert.deepEqual(hits[0]!["highlight"], {
    text: ["Some like it <em>hot</em>, some like it <em>cold</em>"],
  });
});

for (const [field, rule, why] of [
  ["text", { mtach: {} }, /Unknown interval type \[mtach\].*did you mean "match"/],
  ["text", { match: { query: "x", filter: { near: cold } } }, /Unknown filter type \[near\]/],
  ["text", { match: { query: "x", filter: { script: {} } } }, /scripts aren't offered/],
  ["text", { match: {} }, /Required \[query\]/],
  ["text", { match: { query: "x", slop: 1 } }, /does not support \[slop\]/],
  ["text", { ...cold, prefix: { prefix: "x" } }, /\[intervals\]/],
  ["bare", cold, /with no positions indexed/],
  ["n", cold, /with no positions indexed/],
] as const) {
  test(`intervals of ${JSON.stringify(rule)} over ${field} are refused`, async () => {
    await assert.rejects(found(rule, field), (error: Error) =>
      why.test(`${error.message} ${String(error.cause)}`),
    );
  });
}
