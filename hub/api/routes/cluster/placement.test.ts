import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  await hub.start();
  await send("PUT", "/nested", { settings: { number_of_shards: 2 } });
  await send("PUT", "/typed", {
    mappings: { line: { properties: { a: { type: "keyword" } } } },
    aliases: { t: {} },
  });
});
after(() => hub.stop());

test("where copies are is explained, and isn't changed by hand", async () => {
  await send("PUT", "/placed", { settings: { number_of_shards: 1, number_of_replicas: 1 } });
  const waiting = await send("POST", "/_cluster/allocation/explain?include_disk_info=true", {
    index: "placed",
    shard: 0,
    primary: false,
  });
  assert.deepEqual(
    [waiting.body["current_state"], waiting.body["can_allocate"], "cluster_info" in waiting.body],
    ["unassigned", "no", true],
  );
  const there = await send("GET", "/_cluster/allocation/explain", {
    index: "placed",
    shard: 0,
    primary: true,
  });
  assert.equal(there.body["current_state"], "started");
  const none = await send("GET", "/_cluster/allocation/explain", {
    index: "placed",
    shard: 7,
    primary: true,
  });
  assert.equal(none.status, 400);
  assert.equal((await send("POST", "/_cluster/reroute?retry_failed=true")).body["acknowledged"], true);
  const moved = { commands: [{ move: { index: "placed", shard: 0, from_node: "a", to_node: "b" } }] };
  assert.equal((await send("POST", "/_cluster/reroute", moved)).status, 400);
  for (const [commands, reason] of [
    [[{ move: { index: "placed", shard: 7, from_node: "a", to_node: "b" } }], /no shard \[7\]/],
    [[{ allocate_replica: { index: "placed", shard: 0 } }], /needs \[node\]/],
    [[{ allocate_empty_primary: { index: "placed", shard: 0, node: "a" } }], /without its documents/],
    [[{ swap: { index: "placed", shard: 0 } }], /unknown command \[swap\]/],
    [["move"], /must be an object/],
  ] as const) {
    const { status, text } = await send("POST", "/_cluster/reroute", { commands });
    assert.deepEqual([status, reason.test(text)], [400, true], text);
  }
  const explained = await send("POST", "/_cluster/reroute?explain=true&dry_run=true", moved);
  assert.equal((explained.body["explanations"] as unknown as { command: string }[])[0]!.command, "move");
  const beyond = { commands: [{ cancel: { index: "placed", shard: 7, node: "a" } }] };
  const { status, text } = await send("POST", "/_cluster/reroute?explain=true&dry_run=true", beyond);
  assert.deepEqual([status, text.includes("the index [placed] has no shard [7]")], [200, true]);
  const stores = await send("GET", "/placed/_shard_stores");
  assert.deepEqual(Object.keys(stores.body["indices"]!), ["placed"]);
  assert.deepEqual((await send("GET", "/placed/_shard_stores?status=green")).body, { indices: {} });
  assert.equal((await send("GET", "/placed/_upgrade")).body["size_to_upgrade_in_bytes"], 0);
  assert.deepEqual(Object.keys((await send("POST", "/placed/_upgrade")).body["upgraded_indices"]!), [
    "placed",
  ]);
  assert.match(
    (await send("GET", "/_cat/recovery/placed?h=i,s,ty,st,fp")).text,
    /^placed 0 existing_store done 100.0%\n$/,
  );
  await send("DELETE", "/placed");
});

test("health is yellow while replicas have no node, and waits until its timeout at most", async () => {
  const yellow = await send("GET", "/_cluster/health/nested?level=shards");
  assert.equal(yellow.body["status"], "yellow");
  assert.equal(yellow.body["unassigned_shards"], 2);
  assert.equal(Object.keys(yellow.body["indices"]!["nested"]!["shards"]!).length, 2);
  const late = await send("GET", "/_cluster/health/nested?wait_for_status=green&timeout=1ms");
  assert.deepEqual([late.status, late.body["timed_out"]], [408, true]);
  assert.equal((await send("GET", "/_cluster/health/missing?timeout=1ms")).status, 408);
  assert.equal((await send("GET", "/_cluster/health?wait_for_nodes=>=2&timeout=1ms")).status, 408);
  const state = await send("GET", "/_cluster/state/metadata/nested");
  assert.deepEqual(Object.keys(state.body), [
    "cluster_name",
    "compressed_size_in_bytes",
    "cluster_uuid",
    "metadata",
  ]);
});

test("refresh, flush and merges answer for the shards they did", async () => {
  for (const path of ["/nested/_refresh", "/nested/_flush", "/nested/_forcemerge?max_num_segments=1"])
    assert.deepEqual((await send("POST", path)).body, { _shards: { total: 4, successful: 2, failed: 0 } });
  await send("POST", "/nested/_close");
  assert.equal((await send("POST", "/nested/_refresh")).body["error"]!["type"], "index_closed_exception");
  assert.deepEqual((await send("POST", "/nested/_open")).body, {
    acknowledged: true,
    shards_acknowledged: true,
  });
  const stats = await send("GET", "/nested/_stats/docs,store");
  assert.deepEqual(stats.body["indices"]!["nested"]!["primaries"], {
    docs: { count: 3, deleted: 1 },
    store: { size_in_bytes: 1536 },
  });
});

test("names and patterns are resolved to indices and aliases", async () => {
  await send("PUT", "/named-1", { aliases: { named: {}, other: {} } });
  await send("PUT", "/named-2", { aliases: { named: {} } });
  await send("POST", "/named-2/_close");
  const names = async (expression: string): Promise<unknown> => {
    const { indices, aliases } = (await send("GET", `/_resolve/index/${expression}`)).body;
    return { indices, aliases };
  };
  assert.deepEqual(await names("named*"), {
    indices: [{ name: "named-1", aliases: ["named", "other"], attributes: ["open"] }],
    aliases: [{ name: "named", indices: ["named-1", "named-2"] }],
  });
  assert.deepEqual(await names("named*?expand_wildcards=all"), {
    indices: [
      { name: "named-1", aliases: ["named", "other"], attributes: ["open"] },
      { name: "named-2", aliases: ["named"], attributes: ["closed"] },
    ],
    aliases: [{ name: "named", indices: ["named-1", "named-2"] }],
  });
  assert.deepEqual(await names("other"), {
    indices: [],
    aliases: [{ name: "other", indices: ["named-1"] }],
  });
  assert.equal((await send("GET", "/_resolve/index/nothing")).status, 404);
  assert.deepEqual(await names("nothing*"), { indices: [], aliases: [] });
  await send("DELETE", "/named-1,named-2");
});

test("a licence is asked for and can't run out", async () => {
  const { status, body } = await send("GET", "/_license?human=false");
  assert.deepEqual([status, body["license"]!["status"]], [200, "active"]);
});
