import assert from "node:assert/strict";
import { test } from "node:test";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { packSteps, unpackFound } from "./found.ts";

const RESPONSE: SearchResponse = {
  tookMs: 1,
  timedOut: false,
  terminatedEarly: undefined,
  shards: { total: 1, successful: 1, failures: [] },
  total: 2,
  maxScore: 2,
  hits: [
    {
      _id: "1",
      _score: 2,
      _source: { _score: 1 },
      inner_hits: { n: { hits: { total: 1, max_score: 1, hits: [{ _score: 1 }] } } },
    },
    { _id: "2", _score: null, sort: [1] },
  ],
  aggregations: undefined,
  cursor: undefined,
  profile: undefined,
};

test("scores are written with a point, those of documents and sort values as they are", () => {
  const steps = packSteps(RESPONSE, { objectTotals: false });
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  assert.equal(
    unpackFound(step.value).hits.text,
    '[{"_id":"1","_score":2.0,"_source":{"_score":1},' +
      '"inner_hits":{"n":{"hits":{"total":1,"max_score":1.0,"hits":[{"_score":1.0}]}}}},' +
      '{"_id":"2","_score":null,"sort":[1]}]',
  );
});
