import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { geohashOf } from "#hub/engine/documents/values.ts";
import { hashCell, parseDistance } from "#hub/search/geo/point.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: { properties: { at: { type: "geo_point" } } },
  docs: {
    berlin: { at: { lat: 52.52, lon: 13.405 }, stars: 3 },
    potsdam: { at: "52.39,13.06", stars: 5 },
    tokyo: { at: [139.69, 35.69], stars: 1 },
    fiji: { at: { lat: -17.8, lon: 178.0 }, stars: 4 },
    samoa: { at: { lat: -13.8, lon: -172.1 }, stars: 2 },
    nowhere: { stars: 9 },
  },
  segmentDocs: 2,
});
after(() => fixture.close());

suite("queries on points", () => {
  const rows: [name: string, query: Record<string, unknown>, ids: string[]][] = [
    ["near", { geo_distance: { distance: "40km", at: { lat: 52.52, lon: 13.405 } } }, ["berlin", "potsdam"]],
    ["nearer", { geo_distance: { distance: 10, unit: "km", at: "52.52,13.405" } }, ["berlin"]],
    ["over the date line", { geo_distance: { distance: "1500km", at: [-179, -16] } }, ["fiji", "samoa"]],
    [
      "in a box",
      { geo_bounding_box: { at: { top_left: { lat: 53, lon: 13.2 }, bottom_right: { lat: 52, lon: 14 } } } },
      ["berlin"],
    ],
    [
      "in a box by its sides",
      { geo_bounding_box: { at: { top: 53, left: 13, bottom: 52, right: 14 } } },
      ["berlin", "potsdam"],
    ],
    [
      "in a box over the date line",
      { geo_bounding_box: { at: { top_left: [170, 0], bottom_right: [-170, -30] } } },
      ["fiji", "samoa"],
    ],
    [
      "in a polygon",
      { geo_polygon: { at: { points: ["53,13", "53,14", "52,14", "52.3,13"] } } },
      ["berlin", "potsdam"],
    ],
    ["unmapped and ignored", { geo_distance: { distance: "1km", x: [0, 0], ignore_unmapped: true } }, []],
  ];
  for (const [name, query, ids] of rows) {
    test(name, async () => {
      assert.deepEqual((await fixture.ids({ query })).sort(), ids);
    });
  }

  test("a field that is no point is named", async () => {
    await assert.rejects(
      fixture.ids({ query: { geo_distance: { distance: "1km", stars: [0, 0] } } }),
      /all shards failed/,
    );
  });
});

test("a geohash names the cell of a point", () => {
  assert.equal(geohashOf(42.605, -5.603, 5), "ezs42");
  const { south, north, west, east } = hashCell("ezs42", "x");
  assert.ok(south <= 42.605 && north >= 42.605 && west <= -5.603 && east >= -5.603);
});

test("a distance without a unit takes the one given", () => {
  assert.equal(parseDistance("12km", "m", "x"), 12_000);
  assert.equal(parseDistance(3, "mi", "x"), 4828.032);
  assert.throws(() => parseDistance("far", "m", "x"), /must be a distance/);
});

suite("function_score", () => {
  const scored = async (functionScore: Record<string, unknown>): Promise<[string, number][]> => {
    const { hits } = await fixture.search({ query: { function_score: functionScore } });
    return hits.map((hit) => [String(hit["_id"]), Number(hit["_score"])]);
  };

  test("a field's value, a weight and a filter make scores", async () => {
    const found = await scored({
      query: { exists: { field: "at" } },
      functions: [
        { field_value_factor: { field: "stars", factor: 2 } },
        { filter: { term: { stars: 1 } }, weight: 100 },
      ],
      score_mode: "sum",
      boost_mode: "replace",
    });
    assert.deepEqual(found, [
      ["tokyo", 102],
      ["potsdam", 10],
      ["fiji", 8],
      ["berlin", 6],
      ["samoa", 4],
    ]);
  });

  test("scores fall with the distance from an origin", async () => {
    const found = new Map(await scored({ gauss: { stars: { origin: 3, scale: 2, decay: 0.5 } } }));
    assert.equal(found.get("berlin"), 1);
    assert.ok(Math.abs(found.get("potsdam")! - 0.5) < 1e-6);
    const linear = new Map(await scored({ linear: { stars: { origin: 3, scale: 1, decay: 0.5 } } }));
    assert.equal(linear.get("nowhere"), 0);
    const near = await scored({ exp: { at: { origin: "52.52,13.405", scale: "30km" } } });
    assert.deepEqual(new Set([near[0]![0], near[1]![0]]), new Set(["berlin", "nowhere"]));
  });

  test("documents below min_score don't match", async () => {
    const found = await scored({
      field_value_factor: { field: "stars" },
      boost_mode: "replace",
      min_score: 4,
    });
    assert.deepEqual(
      found.map(([id]) => id),
      ["nowhere", "potsdam", "fiji"],
    );
  });

  test("chance is the same for the same seed", async () => {
    const once = await scored({ random_score: { seed: 7 } });
    assert.deepEqual(await scored({ random_score: { seed: 7 } }), once);
    assert.notDeepEqual(await scored({ random_score: { seed: 8 } }), once);
  });

  test("a score without its script is refused", async () => {
    await assert.rejects(scored({ script_score: {} }), /a script must be a text or an object/);
  });
});

test("boosting lowers the scores of what fits the second query", async () => {
  const query = {
    boosting: {
      positive: { match_all: {} },
      negative: { range: { stars: { gte: 2 } } },
      negative_boost: 0.2,
    },
  };
  assert.equal((await fixture.ids({ query }))[0], "tokyo");
});

test("terms_set reads from each document how many values it needs", async () => {
  const sets = new IndexFixture({
    docs: {
      one: { tags: ["a", "b"], need: 2 },
      two: { tags: ["a"], need: 2 },
      three: { tags: ["c"], need: 1 },
    },
  });
  after(() => sets.close());
  const query = {
    terms_set: { "tags.keyword": { terms: ["a", "b", "c"], minimum_should_match_field: "need" } },
  };
  assert.deepEqual((await sets.ids({ query })).sort(), ["one", "three"]);
  const scripted = (script: unknown): Promise<string[]> =>
    sets.ids({
      query: {
        terms_set: { "tags.keyword": { terms: ["a", "b", "c"], minimum_should_match_script: script } },
      },
    });
  const least = { source: "Math.min(params.num_terms, doc['need'].value)" };
  assert.deepEqual((await scripted(least)).sort(), ["one", "three"]);
  assert.deepEqual(await scripted({ source: "params.num_terms - params.less", params: { less: 1 } }), [
    "one",
  ]);
  await assert.rejects(
    sets.ids({ query: { terms_set: { "tags.keyword": { terms: ["a"] } } } }),
    /No minimum should match has been specified/,
  );
});
