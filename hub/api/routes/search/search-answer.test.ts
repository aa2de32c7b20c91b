import assert from "node:assert/strict";
import { test } from "node:test";
import type { Found } from "#hub/host/contract/found.ts";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { searchAnswer } from "./search-answer.ts";

function answer(shards: number, version: number): { hits: object; aggregations?: object; suggest?: object } {
  const found: Found = {
    tookMs: 1,
    timedOut: false,
    shards: { total: shards, successful: shards, failures: [] },
    total: 0,
    maxScore: null,
    hits: new RawJson(Buffer.from("[]")),
    hitCount: 0,
    aggregations: new RawJson(Buffer.from('{"sum":{"value":0.0}}')),
    suggest: new RawJson(Buffer.from('{"words":[]}')),
  } as unknown as Found;
  const options = { totalAsInt: true, countOnly: false, errors: {} } as unknown as Parameters<
    typeof searchAnswer
  >[1];
  return JSON.parse(
    gatherWarnings(new Set(), version, () => writeJson(searchAnswer(found, options))),
  ) as ReturnType<typeof answer>;
}

for (const version of [605, 717]) {
  test(`a search without shards has a greatest score of 0, and no aggregations or suggestions (${version})`, () => {
    const { hits, ...others } = answer(0, version);
    assert.deepEqual(hits, { total: 0, max_score: 0, hits: [] });
    assert.deepEqual(Object.keys(others), ["took", "timed_out", "_shards"]);
    const some = answer(1, version);
    assert.deepEqual(some.hits, { total: 0, max_score: null, hits: [] });
    assert.deepEqual([some.aggregations, some.suggest], [{ sum: { value: 0 } }, { words: [] }]);
  });
}
