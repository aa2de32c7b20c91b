import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { parseSuggest, type Suggestions, suggest } from "#hub/search/suggest.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const AMSTERDAM = { lat: 52.22, lon: 4.53 };
const BERLIN = { lat: 53.31, lon: 13.24 };

const fixture = new IndexFixture({
  mapping: {
    properties: {
      place: { type: "geo_point" },
      colour: { type: "keyword" },
      plain: { type: "completion" },
      own: { type: "completion", contexts: [{ name: "colour", type: "category" }] },
      both: {
        type: "completion",
        contexts: [
          { name: "place", type: "geo", precision: "5km", path: "place" },
          { name: "colour", type: "category", path: "colour" },
        ],
      },
    },
  },
  docs: {
    a: {
      own: { input: "foo red", contexts: { colour: "red" } },
      both: "inn A",
      place: AMSTERDAM,
      colour: "red",
    },
    b: { own: { input: "foo blue", contexts: { colour: ["blue", "bluish"] } }, both: "inn B", place: BERLIN },
    c: {
      own: { input: ["foo c"], weight: 3, contexts: { colour: "red" } },
      both: "inn C",
      colour: ["x", "blue"],
    },
    d: {
      own: "foo none",
      both: { input: "inn D", contexts: { place: { lat: 0, lon: 179.99 } } },
      plain: "foo",
    },
  },
  shards: 2,
  segmentDocs: 2,
});
after(() => fixture.close());

const options = { signal: new AbortController().signal };

function ask(completion: JsonObject, shards = fixture.shards): Promise<Suggestions> {
  const prefix = completion["field"] === "both" ? "inn" : "foo";
  return suggest(
    parseSuggest({ suggest: { s: { prefix, completion } } }, { maxRegexLength: 20 }),
    shards,
    options,
  );
}

async function found(field: string, contexts: JsonObject): Promise<string[]> {
  const { suggest: answer } = await ask({ field, contexts, size: 10 });
  const [{ options: all }] = answer["s"] as [{ options: { text: string; _score: number }[] }];
  return all.map(({ text, _score }) => `${text} ${Number(_score)}`).sort();
}

const CASES: readonly (readonly [field: string, contexts: JsonObject, expected: readonly string[]])[] = [
  ["own", { colour: "red" }, ["foo c 3", "foo red 1"]],
  ["own", { colour: ["red", "blue"] }, ["foo blue 1", "foo c 3", "foo red 1"]],
  ["own", { colour: [{ context: "blue", boost: 4 }, "red"] }, ["foo blue 4", "foo c 3", "foo red 1"]],
  ["own", { colour: { context: "blu", prefix: true } }, ["foo blue 1"]],
  ["own", { colour: "green" }, []],
  ["both", { place: { lat: 52.2263, lon: 4.543 } }, ["inn A 1"]],
  ["both", { place: [4.53, 52.22] }, ["inn A 1"]],
  ["both", { place: { context: "52.22,4.53", precision: 2 } }, ["inn A 1"]],
  ["both", { place: { context: BERLIN, neighbours: [2] } }, ["inn A 1", "inn B 1"]],
  ["both", { place: { lat: 0, lon: -179.99 } }, ["inn D 1"]],
  ["both", { colour: "blue" }, ["inn C 1"]],
  ["both", { colour: "blue", place: BERLIN }, ["inn B 1", "inn C 1"]],
];

suite("contexts of completions", () => {
  for (const [field, contexts, expected] of CASES) {
    test(`${JSON.stringify(contexts)} of ${field} finds ${expected.join(", ") || "nothing"}`, async () => {
      assert.deepEqual(await found(field, contexts), expected);
    });
  }

  test("an option names the contexts that it was found by", async () => {
    const { suggest: answer } = await ask({
      field: "own",
      contexts: { colour: { context: "blu", prefix: true } },
    });
    const [{ options: all }] = answer["s"] as [{ options: JsonObject[] }];
    assert.deepEqual(all[0]?.["contexts"], { colour: ["blue", "bluish"] });
  });

  test("a request without them is warned of by 6, and refused from 7 on", async () => {
    const warnings = new Set<string>();
    await gatherWarnings(warnings, 605, () => ask({ field: "own", contexts: {} }));
    assert.match([...warnings].join(), /query with no context on a context enabled completion field/);
    const later = gatherWarnings(warnings, 710, () => ask({ field: "own" }));
    await assert.rejects(later, /Missing mandatory contexts in context query/);
  });

  test("a context that the field hasn't is refused", async () => {
    await assert.rejects(ask({ field: "own", contexts: { size: "x" } }), /Unknown context name \[size\]/);
    await assert.rejects(ask({ field: "plain", contexts: { colour: "x" } }), /doesn't expect any context/);
  });
});

for (const [contexts, message] of [
  [[{ name: "a" }], /\[type\] of the context \[a\]/],
  [[{ type: "geo" }], /\[name\] of a context/],
  [[{ name: "a", type: "geo", precision: 13 }], /\[precision\]/],
  [[{ name: "a", type: "geo", size: 1 }], /unknown parameter \[size\]/],
  [
    [
      { name: "a", type: "geo" },
      { name: "a", type: "category" },
    ],
    /twice/,
  ],
] as const) {
  test(`the contexts ${JSON.stringify(contexts)} are refused in a mapping`, () => {
    const mapping = { properties: { f: { type: "completion", contexts } } };
    assert.throws(() => new IndexFixture({ mapping, docs: [] }), message);
  });
}

test("a shard whose field isn't a completion fails alone", async () => {
  const other = new IndexFixture({
    mapping: { properties: { own: { type: "keyword" } } },
    docs: [{ own: "foo" }],
  });
  const completion = { field: "own", contexts: { colour: "red" } };
  try {
    const { failures, suggest: answer } = await ask(completion, [...fixture.shards, ...other.shards]);
    assert.deepEqual(
      failures.map(({ error }) => error.message),
      other.shards.map(() => "Field [own] is not a completion suggest field"),
    );
    assert.equal((answer["s"] as [{ options: unknown[] }])[0].options.length, 2);
    await assert.rejects(
      ask(completion, other.shards),
      (error) => error instanceof AppError && error.status === 400,
    );
  } finally {
    other.close();
  }
});
