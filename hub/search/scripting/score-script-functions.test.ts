import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: { properties: { at: { type: "date" }, place: { type: "geo_point" }, host: { type: "keyword" } } },
  docs: [
    { n: 4, at: "2024-01-03T00:00:00Z", place: "0,1", host: "a" },
    { n: 9, at: "2024-01-11T00:00:00Z", place: "0,2", host: "b" },
    { n: 9, at: "2024-01-01T00:00:00Z", place: "0,0", host: "a" },
  ],
});
after(() => index.close());

async function scores(query: JsonObject): Promise<number[]> {
  const { hits } = await index.search({ query });
  return hits.toSorted((a, b) => Number(a["_id"]) - Number(b["_id"])).map((hit) => Number(hit["_score"]));
}

const ofScript = (source: string): Promise<number[]> =>
  scores({ script_score: { query: { match_all: {} }, script: { source } } });

function assertNear(found: readonly number[], wanted: readonly number[], what: string): void {
  for (const [at, score] of found.entries())
    assert.ok(Math.abs(score - wanted[at]!) < 1e-6, `${what}: ${String(found)} instead of ${String(wanted)}`);
}

test("values become scores by saturation and sigmoid", async () => {
  assertNear(await ofScript("saturation(doc['n'].value, 1)"), [0.8, 0.9, 0.9], "saturation");
  assertNear(await ofScript("sigmoid(doc['n'].value, 2, 2)"), [16 / 20, 81 / 85, 81 / 85], "sigmoid");
  assertNear(
    await scores({ function_score: { script_score: { script: "saturation(_score, 1)" } } }),
    [0.5, 0.5, 0.5],
    "_score",
  );
});

test("decays of scripts are those of function_score", async () => {
  for (const kind of ["Linear", "Exp", "Gauss"]) {
    const name = kind.toLowerCase();
    for (const [unit, field, origin, scale, offset] of [
      ["Numeric", "n", 3, 4, 1],
      ["Geo", "place", "0,0", "150km", "10km"],
      ["Date", "at", "2024-01-01T00:00:00Z", "4d", "1d"],
    ] as const) {
      const literal = (value: number | string): string =>
        typeof value === "number" ? String(value) : `'${value}'`;
      const source = `decay${unit}${kind}(${literal(origin)}, ${literal(scale)}, ${literal(offset)}, 0.3, doc['${field}'].value)`;
      const plain = { function_score: { [name]: { [field]: { origin, scale, offset, decay: 0.3 } } } };
      assertNear(await ofScript(source), await scores(plain), source);
    }
  }
});

test("random scores are the same for a seed, and for equal values of a field", async () => {
  const random = await ofScript("randomScore(7)");
  assert.deepEqual(await ofScript("randomScore(7, '_seq_no')"), random);
  assertNear(random, await scores({ function_score: { random_score: { seed: 7 } } }), "random_score");
  assert.notDeepEqual(await ofScript("randomScore(8)"), random);
  const [first, second, third] = await ofScript("randomScore(7, 'host')");
  assert.ok(first === third && first !== second);
});

test("a function that isn't there, or takes other arguments, fails the script", async () => {
  for (const [source, why] of [
    ["cosineSimilarity(params.v, 'v')", /Unknown call \[cosineSimilarity\]/],
    ["saturation(1)", /Unknown call \[saturation\] with \[1\] arguments/],
    ["decayGeoExp('0,0', '1km', '0km', 0.5, 1)", /a geo point is needed/],
    ["decayDateExp('2024-01-01', '1d', '0', 0.5, 1)", /a date is needed/],
  ] as const)
    await assert.rejects(ofScript(source), (error) => why.test(inspect(error, { depth: 9 })), source);
});

test("a function of the script goes before one of that name", async () => {
  assertNear(
    await ofScript("double saturation(double a, double b) { return a + b } saturation(1, 2)"),
    [3, 3, 3],
    "own",
  );
});
