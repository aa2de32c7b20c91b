import assert from "node:assert/strict";
import { test } from "node:test";
import { LINES, openBulkHub, watchedBodies } from "#test/support/api/bulk-hub.ts";

/** Two documents with ids. */
const KEYED = '{"index":{"_id":"1"}}\n{"n":1}\n{"index":{"_id":"2"}}\n{"n":2}\n';

test("a body that its index can't take in one run isn't lent", async (t) => {
  const bodies = watchedBodies(t);
  const { node, send } = await openBulkHub(t, bodies);
  const { catalog } = node;
  const settings = { default_pipeline: "p" };
  await catalog.create("piped", { settings, mappings: {}, aliases: {} });
  const template = { index_patterns: ["stream*"], composed_of: [], data_stream: {} };
  await catalog.templateCatalog.putComposable("t", template);
  await catalog.createDataStream("stream");
  const lent = async (path: string, text = KEYED): Promise<number> => {
    const before = bodies.lent;
    await send("POST", `/${path}`, text, LINES);
    return bodies.lent - before;
  };
  const paths = ["piped", "nested", "routed", "blocked", "closed", "stream"].map((name) => `${name}/_bulk`);
  for (const path of [...paths, "plain/_bulk?require_alias=true"]) assert.equal(await lent(path), 0, path);
  for (const name of ["plain", "alias", "shards", "missing"])
    assert.equal(await lent(`${name}/_bulk`), 1, name);
  assert.equal(await lent("nested/_bulk", '{"index":{}}\n{}\n'.repeat(2)), 1, "without ids");
  assert.equal(bodies.held, 0);
});
