import assert from "node:assert/strict";
import { test } from "node:test";
import { indicesText, slowReasons } from "./slow-queries.ts";

const RANGE = { range: { "@timestamp": { gte: "now-1h" } } };

const CASES: readonly (readonly [body: unknown, reason: RegExp | undefined])[] = [
  [{ query: RANGE }, undefined],
  [{ query: { bool: { filter: [RANGE, { query_string: { query: "*" } }] } } }, undefined],
  [{ query: { bool: { filter: [RANGE, { query_string: { query: "host:web*" } }] } } }, undefined],
  [{ query: { bool: { filter: [RANGE, { query_string: { query: "path:*cart" } }] } } }, /wildcard/],
  [{ query: { bool: { filter: [RANGE, { wildcard: { path: { value: "?art" } } }] } } }, /wildcard/],
  [{ query: { bool: { filter: [RANGE, { regexp: { path: "a.*" } }] } } }, /regular expression/],
  [{ query: RANGE, from: 9_000 }, /9000 hits/],
  [{ query: RANGE, aggs: { a: { terms: { field: "ip", size: 50_000 } } } }, /groups/],
  [{ query: { match_all: {} } }, /no time range/],
];

test("what makes a search slow is said with its remedy, and nothing where nothing is known", () => {
  for (const [body, reason] of CASES) {
    const reasons = slowReasons({ body: JSON.stringify(body), indices: ["logs"] });
    if (reason === undefined) assert.deepEqual(reasons, [], JSON.stringify(body));
    else assert.match(reasons.join("\n"), reason);
  }
});

test("a body that was cut is not judged", () => {
  assert.deepEqual(slowReasons({ body: '{"query":{"regexp":…', indices: [] }), []);
});

test("the indices of a search are its first ones and how many more", () => {
  assert.equal(indicesText([]), "–");
  assert.equal(indicesText(["a", "b", "c"]), "a, b, c");
  assert.equal(indicesText(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
});
