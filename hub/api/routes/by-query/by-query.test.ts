import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { byQueryRoutes } from "./by-query.ts";

const fixture = new SearchRoutesFixture({ routes: byQueryRoutes });
const sourceless = new SearchRoutesFixture({
  mapping: { _source: { enabled: false } },
  routes: byQueryRoutes,
});
after(() => {
  fixture.close();
  sourceless.close();
});

test("shards that can't be read are failures of the answer, with what was done", async () => {
  const script = { source: "throw new IllegalArgumentException('Cats!')" };
  for (const slices of ["1", "2"]) {
    const { status, body } = await fixture.send("POST", `/logs/_update_by_query?slices=${slices}`, {
      query: { script: { script } },
    });
    const { index, node, reason } = body["failures"]![0]!;
    assert.deepEqual([status, body["updated"], body["batches"], index, node], [500, 0, 0, "logs", "node"]);
    assert.deepEqual(
      [reason!["type"], reason!["reason"], reason!["caused_by"]],
      ["script_exception", "runtime error", { type: "illegal_argument_exception", reason: "Cats!" }],
    );
  }
});

test("documents without a stored source are changed by no query", async () => {
  const update = await sourceless.send("POST", "/logs/_update_by_query");
  assert.equal(update.status, 400);
  assert.match(
    JSON.stringify(update.body["error"]!["reason"]),
    /^"\[logs\]\[_doc\]\[\d\] didn't store _source"$/,
  );
});

test("a limit that is given twice must be the same both times", async () => {
  const query = { match_none: {} };
  const limits = [
    ["?size=4&max_docs=5", {}],
    ["?max_docs=5", { max_docs: 4 }],
    ["", { max_docs: 5, size: 4 }],
  ] as const;
  for (const [params, given] of limits) {
    const { status, body } = await fixture.send("POST", `/logs/_delete_by_query${params}`, {
      query,
      ...given,
    });
    assert.equal(status, 400, params);
    assert.match(
      JSON.stringify(body["error"]!["reason"]),
      /^"\[max_docs\] set to two different values \[4\] and \[5\]/,
    );
  }
  const same = await fixture.send("POST", "/logs/_delete_by_query?max_docs=5", { query, size: 5 });
  assert.equal(same.status, 200);
});

test("a limit below zero is named as the version of the request names it", async () => {
  for (const [version, name] of [
    ["6.5.4", "size"],
    ["7.10.2", "max_docs"],
  ] as const) {
    const { body } = await fixture.send("POST", "/logs/_update_by_query?max_docs=-4", undefined, version);
    assert.equal(body["error"]!["reason"], `[${name}] parameter cannot be negative, found [-4]`);
  }
});
