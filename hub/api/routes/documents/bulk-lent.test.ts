/** Large bodies of `_bulk` whose documents a thread has. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "#proto/kit/errors.ts";
import {
  type BulkHub,
  LINES,
  openBulkHub,
  type WatchedBodies,
  watchedBodies,
} from "#test/support/api/bulk-hub.ts";

const LIMIT = { timeout: 120_000 };

/** A body with an id before each document. */
function keyedBody(count: number): string {
  return Array.from({ length: count }, (_, n) => `{"index":{"_id":"${n}"}}\n{"n":${n}}\n`).join("");
}

test(
  "where the thread of a body with ids is lost in the middle the documents that are left fail, each by its id",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    bodies.before = ({ kind }) => {
      if (kind === "encode" && bodies.encoded > 1) throw new AppError("unavailable", "lost");
    };
    const { send } = await openBulkHub(t, bodies);
    const { body } = await send("POST", "/plain/_doc/_bulk", keyedBody(26_000), LINES);
    const items = Array.from({ length: body["items"]!.length }, (_, n) => body["items"]![n]!["index"]!);
    assert.equal(items.length, 26_000);
    for (const [n, { _id: id, status }] of items.entries())
      assert.deepEqual([id, status], [`${n}`, n < 25_000 ? 201 : 503]);
  },
);

test("a body that its index can't take in one run isn't lent", LIMIT, async (t) => {
  const bodies = watchedBodies(t);
  const { node, send } = await openBulkHub(t, bodies);
  const { catalog } = node;
  const settings = { default_pipeline: "p" };
  await catalog.create("piped", { settings, mappings: {}, aliases: {} });
  const template = { index_patterns: ["stream*"], composed_of: [], data_stream: {} };
  await catalog.templateCatalog.putComposable("t", template);
  await catalog.createDataStream("stream");
  const lent = async (path: string, text = keyedBody(2)): Promise<number> => {
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

/** Lets the thread lose a body with its second part. Counts how often the catalog is read from then on, as for each item's failure. */
function failLater(
  t: TestContext,
  { node }: BulkHub,
  bodies: WatchedBodies,
  onRead: () => void = () => undefined,
) {
  const seen = { jobs: 0, reads: 0 };
  bodies.before = ({ kind }) => {
    if (kind !== "scan" && ++seen.jobs > 1) throw new AppError("unavailable", "lost");
  };
  const get = node.catalog.get.bind(node.catalog);
  t.mock.method(node.catalog, "get", (name: string) => {
    if (seen.jobs > 1 && seen.reads++ === 0) onRead();
    return get(name);
  });
  return seen;
}

test("the failure of documents without ids that are left is written once and copied", LIMIT, async (t) => {
  const bodies = watchedBodies(t);
  const hub = await openBulkHub(t, bodies);
  const seen = failLater(t, hub, bodies);
  const { body } = await hub.send("POST", "/plain/_bulk", '{"index":{}}\n{"n":1}\n'.repeat(30_000), LINES);
  const statuses = Array.from({ length: 30_000 }, (_, n) => Number(body["items"]![n]!["index"]!["status"]));
  assert.deepEqual([statuses.indexOf(503), statuses.lastIndexOf(201)], [25_000, 24_999]);
  assert.ok(seen.reads < 100, `${seen.reads} reads`);
});

test(
  "the failures of documents that are left aren't written for a client that has gone",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    const hub = await openBulkHub(t, bodies);
    const text = keyedBody(300_000);
    const client = request(`${hub.url()}/plain/_bulk`, { method: "POST", headers: LINES });
    const gone = Promise.withResolvers<void>();
    client.on("error", () => gone.resolve());
    const seen = failLater(t, hub, bodies, () => client.destroy());
    client.end(text);
    await gone.promise;
    while (bodies.held > 0) await setImmediate();
    assert.ok(seen.reads > 0 && seen.reads < 200_000, `${seen.reads} reads`);
  },
);
