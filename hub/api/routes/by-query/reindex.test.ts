import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { reindexRoutes } from "./reindex.ts";

/** Nothing can be written here: a write, or making an index, fails the request. */
const fixture = new SearchRoutesFixture({ routes: reindexRoutes });
after(() => fixture.close());
beforeEach(() => {
  fixture.settings = {};
});

const NOOP = { source: "ctx.op = 'noop'" };

test("the destination isn't made for documents that a script leaves out", async () => {
  for (const dest of [{ index: "new" }, { index: "new", type: "line" }]) {
    const { status, body } = await fixture.send("POST", "/_reindex", {
      source: { index: "other" },
      dest,
      script: NOOP,
    });
    assert.deepEqual([status, body["noops"], body["created"]], [200, 1, 0], JSON.stringify(body));
  }
});

test("a script is given the index of the document that is copied", async () => {
  const { body } = await fixture.send("POST", "/_reindex", {
    source: { index: "other" },
    dest: { index: "new" },
    script: { source: "if (ctx._index == 'other') { ctx.op = 'noop' }" },
  });
  assert.equal(body["noops"], 1, JSON.stringify(body));
});

test("action.auto_create_index decides whether the destination is made", async () => {
  fixture.settings = { "action.auto_create_index": "-new*,*" };
  const copy = { source: { index: "other" }, dest: { index: "new" }, script: NOOP };
  const { status, body } = await fixture.send("POST", "/_reindex", copy);
  assert.equal(status, 404);
  assert.equal(
    body["error"]!["reason"],
    "no such index and [action.auto_create_index] contains [-new*] which forbids automatic creation of the index",
  );
  assert.equal((await fixture.send("POST", "/_reindex", { ...copy, dest: { index: "logs" } })).status, 200);
});

test("a source that can't be read whole is a failure of the answer in 6.5, and from 7.0 on the error", async () => {
  const script = {
    source: "if (doc['status'].value == 500) throw new IllegalArgumentException('Cats!'); return true",
  };
  const copy = { source: { index: "logs", query: { script: { script } } }, dest: { index: "new" } };
  const old = await fixture.send("POST", "/_reindex", copy);
  assert.equal(old.body["failures"]![0]!["reason"]!["type"], "script_exception");
  const { body } = await fixture.send("POST", "/_reindex", copy, "7.10.2");
  const { error } = body;
  assert.equal(error!["type"], "search_phase_execution_exception", JSON.stringify(body));
  assert.equal(error!["reason"], "Partial shards failure");
  assert.equal(error!["failed_shards"]![0]!["reason"]!["caused_by"]!["reason"], "Cats!");
});

test("old options are warned of since 7.3 and 7.6", async () => {
  const copy = { size: 1, source: { index: "other", sort: "_doc" }, dest: { index: "new" }, script: NOOP };
  const { warnings } = await fixture.send("POST", "/_reindex", copy, "7.10.2");
  assert.deepEqual(
    warnings.map((text) => text.slice(0, 32)),
    ["Deprecated field [size] used, ex", "The sort option in reindex is de"],
  );
  assert.deepEqual((await fixture.send("POST", "/_reindex", copy)).warnings, []);
});
