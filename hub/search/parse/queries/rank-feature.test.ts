import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: {
    properties: {
      rank: { type: "rank_feature" },
      length: { type: "rank_feature", positive_score_impact: false },
      n: { type: "long" },
    },
  },
  docs: [{ rank: 10, length: 50 }, { rank: 100, length: 20 }, { rank: 1, length: 80 }, { n: 1 }],
  segmentDocs: 2,
});
after(() => index.close());

async function scores(body: JsonObject): Promise<[unknown, number][]> {
  const { hits } = await index.search({ query: { rank_feature: body } });
  return hits.map((hit) => [hit["_id"], Number(Number(hit["_score"]).toFixed(3))]);
}

for (const [body, expected] of [
  [
    { field: "rank", saturation: { pivot: 8 } },
    [
      ["1", 0.926],
      ["0", 0.556],
      ["2", 0.111],
    ],
  ],
  [
    { field: "rank", log: { scaling_factor: 4 } },
    [
      ["1", 4.644],
      ["0", 2.639],
      ["2", 1.609],
    ],
  ],
  [
    { field: "rank", sigmoid: { pivot: 7, exponent: 0.6 }, boost: 2 },
    [
      ["1", 1.663],
      ["0", 1.107],
      ["2", 0.475],
    ],
  ],
  [
    { field: "rank", linear: {} },
    [
      ["1", 100],
      ["0", 10],
      ["2", 1],
    ],
  ],
  [
    { field: "length", saturation: { pivot: 0.02 } },
    [
      ["1", 0.714],
      ["0", 0.499],
      ["2", 0.385],
    ],
  ],
] as const) {
  test(`${JSON.stringify(body)} scores by the value, to three digits`, async () => {
    const found = await scores(body);
    assert.deepEqual(
      found.map(([id]) => id),
      expected.map(([id]) => id),
    );
    for (const [at, [, score]] of expected.entries())
      assert.ok(Math.abs(found[at]![1] - score) <= 0.003 * score, `${found[at]![1]} for ${score}`);
  });
}

test("without a function half of the score is left at about the mean", async () => {
  const [best, middle, worst] = await scores({ field: "rank" });
  assert.deepEqual([best![0], middle![0], worst![0]], ["1", "0", "2"]);
  assert.ok(Math.abs(middle![1] - 0.5) < 0.1, String(middle![1]));
  assert.deepEqual(await scores({ field: "nowhere" }), []);
});

for (const [body, why] of [
  [{ field: "n" }, /only works on \[rank_feature\] fields, not \[long\]/],
  [{ field: "length", log: { scaling_factor: 2 } }, /negative score impact/],
  [{ field: "rank", log: { scaling_factor: 0.5 } }, /scalingFactor must be >= 1/],
  [{ field: "rank", saturation: { pivot: 0 } }, /pivot must be > 0/],
  [{ field: "rank", sigmoid: { pivot: 1 } }, /Required \[exponent\]/],
  [{ field: "rank", linear: {}, log: { scaling_factor: 2 } }, /Can only specify one of/],
] as const) {
  test(`${JSON.stringify(body)} is refused`, async () => {
    await assert.rejects(scores(body), (error: Error) => why.test(`${error.message} ${String(error.cause)}`));
  });
}

test("a negative value is refused at the document", () => {
  const negative = (): unknown =>
    new IndexFixture({
      mapping: { properties: { rank: { type: "rank_feature" } } },
      docs: [{ rank: -1 }],
    });
  assert.throws(negative, (error) =>
    /\[rank_feature\] fields take no negative values, but got \[-1\]/.test(inspect(error, { depth: 9 })),
  );
});
