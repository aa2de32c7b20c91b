/** Answers beside those of searches whose numbers have fractions: clients that read typed JSON tell 1.0 from 1. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  await hub.start();
  await send("PUT", "/words/_doc/1", { t: "hello" });
});
after(() => hub.stop());

test("the speed of a change by query has a point", async () => {
  const { text } = await send("POST", "/words/_update_by_query");
  assert.match(text, /"requests_per_second":-1\.0/);
});

test("the score of an evaluation has a point", async () => {
  const { text } = await send("POST", "/words/_rank_eval", {
    requests: [
      { id: "q", request: { query: { match_all: {} } }, ratings: [{ _index: "words", _id: "1", rating: 1 }] },
    ],
    metric: { precision: {} },
  });
  assert.match(text, /^\{"metric_score":0\.0,"details":\{"q":\{"metric_score":0\.0,/);
});
