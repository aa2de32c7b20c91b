import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const NONE = "wait_for_active_shards=2&timeout=1ms";

before(() => hub.start());
after(() => hub.stop());

test("an index whose replicas have no hub is made, and its shards aren't acknowledged", async () => {
  for (const [path, acknowledged] of [
    ["/one", true],
    ["/two?wait_for_active_shards=1", true],
    [`/three?${NONE}`, false],
    ["/four?wait_for_active_shards=all&timeout=1ms", false],
  ] as const) {
    const { status, body } = await send("PUT", path, { settings: { number_of_replicas: 1 } });
    assert.deepEqual([status, body["shards_acknowledged"]], [200, acknowledged], path);
  }
  const alone = await send("PUT", "/alone?wait_for_active_shards=all", {
    settings: { number_of_replicas: 0 },
  });
  assert.equal(alone.body["shards_acknowledged"], true);
});

test("a write that asks for more copies than there are is refused, and nothing is written", async () => {
  await send("PUT", "/w", { settings: { number_of_replicas: 1 }, aliases: { v: {} } });
  const line = '{"index":{"_id":"1"}}\n{}\n';
  const bulk = await send("POST", `/v/_bulk?${NONE}`, line, { "content-type": "application/x-ndjson" });
  const refused = [
    bulk,
    await send("PUT", `/w/_doc/1?${NONE}`, { a: 1 }),
    await send("POST", `/w/_doc/1/_update?${NONE}`, { doc: { a: 1 }, doc_as_upsert: true }),
    await send("DELETE", `/w/_doc/1?${NONE}`),
  ];
  for (const { status, text } of refused) {
    assert.equal(status, 503, text);
    assert.match(
      text,
      /unavailable_shards_exception.*\[w\] Not enough active copies to meet shard count of \[2\] \(have 1, needed 2\)/,
    );
  }
  assert.equal((await send("GET", "/w/_doc/1")).status, 404);
  assert.equal((await send("PUT", "/w/_doc/1?wait_for_active_shards=1", { a: 1 })).status, 201);
});

test("a count that isn't a number is refused before anything is done", async () => {
  assert.equal((await send("PUT", "/odd?wait_for_active_shards=most")).status, 400);
  assert.equal((await send("HEAD", "/odd")).status, 404);
  await send("PUT", "/odd-1", { aliases: { odd: {} } });
  assert.equal((await send("POST", "/odd/_rollover?wait_for_active_shards=most", {})).status, 400);
  assert.equal((await send("HEAD", "/odd-000002")).status, 404);
  await send("POST", "/odd-1/_close");
  assert.equal((await send("POST", "/odd-1/_open?wait_for_active_shards=most")).status, 400);
  assert.equal((await send("GET", "/odd-1/_count")).status, 400);
  const reindex = { source: { index: "w" }, dest: { index: "odd-2" } };
  for (const [path, body] of [
    ["/_reindex", reindex],
    ["/w/_update_by_query", {}],
    ["/w/_delete_by_query", { query: { match_all: {} } }],
  ] as const) {
    const { status, text } = await send("POST", `${path}?wait_for_active_shards=most`, body);
    assert.equal(status, 400, path);
    assert.match(text, /cannot parse ActiveShardCount\[most\]/);
  }
  assert.equal((await send("HEAD", "/odd-2")).status, 404);
});

test("a preference that names no node or nothing known is refused", async () => {
  await send("PUT", "/p", { settings: { number_of_shards: 2 } });
  for (const preference of ["_local", "_only_local", "session-7", "_prefer_nodes:a,b", "_only_nodes:*"])
    assert.equal((await send("GET", `/p/_search?preference=${preference}`)).status, 200, preference);
  for (const preference of ["_only_nodes:abc", "_nearest", "_shards:a"])
    assert.equal((await send("GET", `/p/_search?preference=${preference}`)).status, 400, preference);
});
