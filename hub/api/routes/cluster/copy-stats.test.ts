import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Cluster, NodeInfo, Placement } from "#hub/api/ports/cluster.ts";
import { copyStats, statsOn } from "#hub/api/stats/copy-stats.ts";
import {
  type HostedShards,
  type NamedIndex,
  REFRESHED,
  type Refreshed,
} from "#hub/host/contract/hosted-shards.ts";
import { ForwardedShards } from "#hub/host/copies/forwarded-shards.ts";
import { AppError } from "#proto/kit/errors.ts";
import { FakeHub, NO_SHARDS } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

function node(id: string, port: number): NodeInfo {
  const [host, name] = [`127.0.0.${port}`, `hub-${port}`];
  return {
    id,
    name,
    attributes: {},
    host,
    httpAddress: `${host}:920${port}`,
    transportAddress: `${host}:930${port}`,
    master: port === 2,
  };
}

/** The hub that is asked comes first. */
const NODES = [node("a", 1), node("b", 2), node("c", 3)];
/** The copies of the one shard of each index, the primary first. */
const PLACES: Readonly<Record<string, Placement>> = {
  both: { holders: ["b", "a"], having: ["a", "b"] },
  away: { holders: ["b"], having: ["b"] },
  moving: { holders: ["c"], having: ["b"] },
  lost: { holders: ["z"], having: [] },
};

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const cluster: Cluster = {
  name: "test",
  uuid: "uuid",
  nodes: () => NODES,
  placement: (uuid) => PLACES[hub.catalog.all().find((each) => each.uuid === uuid)?.name ?? ""],
  settings: () => ({ persistent: {}, transient: {} }),
  putSettings: () => Promise.resolve(),
};

/** What a refresh lacks. */
let refreshed: Refreshed = REFRESHED;
/** True: hub-2 doesn't answer. */
let silent = false;

/** No hub answers for the index without a copy. */
class AnsweringShards extends ForwardedShards {
  override async stats(indices: readonly NamedIndex[]): ReturnType<HostedShards["stats"]> {
    const stats = await super.stats(indices);
    const answering = silent ? ["a"] : ["a", "b"];
    return new Map(
      [...stats].filter(([uuid]) =>
        cluster.placement?.(uuid, 0)?.having.some((id) => answering.includes(id)),
      ),
    );
  }

  override refresh(): Promise<Refreshed> {
    return Promise.resolve(refreshed);
  }

  override segments(indices: readonly NamedIndex[]): ReturnType<HostedShards["segments"]> {
    const segments = [{ docs: 4, live: 3 }];
    return Promise.resolve(indices.map(({ uuid }) => ({ uuid, shard: 0, segments })));
  }
}

hub.parts = { cluster, shards: new AnsweringShards(NO_SHARDS) };

before(async () => {
  await hub.start();
  for (const name of ["both", "away", "moving", "lost"])
    await send("PUT", `/${name}`, {
      settings: { number_of_shards: 1, number_of_replicas: name === "both" ? 1 : 0 },
    });
});
after(() => hub.stop());

/** All but the index without a copy. */
const HELD = "both,away,moving";

/** Answers of `_cat`: their path, and the rows. */
const TABLES: readonly (readonly [path: string, rows: readonly string[]])[] = [
  [
    `indices/${HELD}?h=index,docs.count,store.size,pri.store.size,segments.count,pri.segments.count`,
    ["away 3 1536 1536 1 1", "both 3 3072 1536 2 1", "moving 3 1536 1536 1 1"],
  ],
  ["allocation?h=shards,disk.indices,node", ["1 1536 hub-1", "3 4608 hub-2", "0 0 hub-3", "1 UNASSIGNED"]],
  [
    `segments/${HELD}?h=index,prirep,ip,size`,
    ["away p 127.0.0.2 1536", "both p 127.0.0.2 1536", "both r 127.0.0.1 1536", "moving p 127.0.0.2 1536"],
  ],
  [
    "recovery/both,moving?h=index,stage,source_node,target_node,target_host",
    [
      "both done hub-2 hub-2 127.0.0.2",
      "both done hub-1 hub-1 127.0.0.1",
      "moving done hub-2 hub-2 127.0.0.2",
      "moving index hub-2 hub-3 127.0.0.3",
    ],
  ],
  ["shards/both?h=prirep,node,store,fielddata.memory_size", ["p hub-2 1536 0", "r hub-1 1536 24"]],
  ["nodes?h=name,segments.count,completion.size,get.total", ["hub-1 1 48 0", "hub-2 3 144", "hub-3 0 0"]],
];
for (const [path, rows] of TABLES)
  test(`_cat/${path} shows each copy at its hub`, async () => {
    const { text } = await send("GET", `/_cat/${path}&bytes=b`);
    const found = text.split("\n").map((line) => line.trim().replaceAll(/ +/g, " "));
    assert.deepEqual(
      found.filter((line) => line !== ""),
      rows,
    );
  });

test("_stats counts shards once as primaries, and each started copy in the total", async () => {
  const { body } = await send("GET", `/${HELD}/_stats/docs,store?level=shards`);
  assert.deepEqual(body["_shards"], { total: 4, successful: 4, failed: 0 });
  const sums = (shards: number): unknown => ({
    docs: { count: 3 * shards, deleted: shards },
    store: { size_in_bytes: 1536 * shards },
  });
  assert.deepEqual(body["_all"], { primaries: sums(3), total: sums(4) });
  const { primaries, total, shards } = body["indices"]!["both"]!;
  assert.deepEqual([primaries, total], [sums(1), sums(2)]);
  const routing = (index: string): unknown =>
    Array.from(body["indices"]![index]!["shards"]!["0"] as unknown as object[], (copy) =>
      Reflect.get(copy, "routing"),
    );
  assert.deepEqual(routing("both"), [
    { state: "STARTED", primary: true, node: "b", relocating_node: null },
    { state: "STARTED", primary: false, node: "a", relocating_node: null },
  ]);
  assert.deepEqual(routing("moving"), [
    { state: "RELOCATING", primary: true, node: "b", relocating_node: "c" },
  ]);
  assert.deepEqual(shards!["0"]![1]!["store"], { size_in_bytes: 1536 });
});

test("the memory of fields is that of the copy that was asked", async () => {
  const { body } = await send("GET", "/both/_stats/fielddata");
  const memory = { fielddata: { memory_size_in_bytes: 24, evictions: 0 } };
  assert.deepEqual(body["_all"], { primaries: memory, total: memory });
  const { text } = await send("GET", "/_cat/fielddata?h=node,field,size");
  assert.deepEqual(text.trim().split(/ *\n/), ["hub-1 message 24b", "hub-2 message 48b"]);
});

test("_nodes/stats has each node's copies, and of others nothing else", async () => {
  const { body } = await send("GET", "/_nodes/stats/indices,jvm/docs,search?level=indices");
  assert.deepEqual(body["_nodes"], { total: 3, successful: 3, failed: 0 });
  const [a, b, c] = ["a", "b", "c"].map((id) => body["nodes"]![id]!);
  assert.deepEqual(
    [a!["indices"]!["docs"], "search" in a!["indices"]!, "jvm" in a!],
    [{ count: 3, deleted: 1 }, true, true],
  );
  const docs = { docs: { count: 3, deleted: 1 } };
  const held = { both: docs, away: docs, moving: docs };
  assert.deepEqual(b!["indices"], { docs: { count: 9, deleted: 3 }, indices: held });
  assert.deepEqual(c!["indices"], { docs: { count: 0, deleted: 0 }, indices: {} });
  assert.deepEqual([b!["ip"], "jvm" in b!], ["127.0.0.2:9302", false]);
  assert.deepEqual(Object.keys((await send("GET", "/_nodes/stats/jvm")).body["nodes"]!), ["a"]);
});

test("what isn't known of a node that doesn't answer is left out", async () => {
  silent = true;
  try {
    const stats = (await send("GET", `/${HELD}/_stats/docs`)).body;
    assert.deepEqual(stats["_shards"], { total: 4, successful: 2, failed: 0 });
    const { body } = await send("GET", "/_nodes/stats/indices/docs");
    assert.deepEqual(
      [body["_nodes"], Object.keys(body["nodes"]!)],
      [{ total: 3, successful: 2, failed: 1 }, ["a", "c"]],
    );
    const lines = async (path: string): Promise<string[]> =>
      (await send("GET", path)).text
        .trim()
        .split(/ *\n/)
        .map((line) => line.replaceAll(/ +/g, " ").trim());
    assert.deepEqual(await lines("/_cat/allocation?h=shards,disk.indices,node&bytes=b"), [
      "1 1536 hub-1",
      "3 hub-2",
      "0 0 hub-3",
      "1 UNASSIGNED",
    ]);
    assert.deepEqual(await lines("/_cat/nodes?h=name,segments.count"), ["hub-1 1", "hub-2", "hub-3 0"]);
  } finally {
    silent = false;
  }
});

test("where copies aren't placed, each node has one of every shard", async () => {
  const { index, stats } = { index: hub.catalog.get("away")!, stats: [{ shard: 0, fieldData: new Map() }] };
  const everywhere = { nodes: () => NODES };
  const held = NODES.map((each) => statsOn(each, index, stats as never, everywhere)?.length);
  assert.deepEqual(held, [1, 1, 1]);
  assert.deepEqual(
    copyStats(index, stats as never, everywhere).map(({ node: at, isPrimary }) => [at.id, isPrimary]),
    [["b", true]],
  );
});

test("_cluster/stats counts documents of primaries, and sizes of all copies", async () => {
  const { body } = await send("GET", "/_cluster/stats");
  const { shards, docs, store } = body["indices"]!;
  assert.deepEqual(shards, { total: 4, primaries: 3, replication: 1 / 3 });
  assert.deepEqual([docs, store], [{ count: 9, deleted: 3 }, { size_in_bytes: 4 * 1536 }]);
  const one = (await send("GET", "/_cluster/stats/nodes/hub-1")).body["indices"]!;
  assert.deepEqual(
    [one["shards"], one["docs"], one["store"]],
    [{ total: 1, primaries: 0, replication: 0 }, { count: 0, deleted: 0 }, { size_in_bytes: 1536 }],
  );
});

test("what is done with shards is counted for their started copies", async () => {
  for (const path of ["_refresh", "_flush", "_forcemerge", "_cache/clear"]) {
    const { body } = await send("POST", `/both,lost/${path}`);
    assert.deepEqual(body, { _shards: { total: 3, successful: 2, failed: 0 } }, path);
  }
});

test("a refresh counts the copies that other hubs may not have refreshed, and one of each shard if this hub's are behind", async () => {
  const counts = async (given: Refreshed): Promise<unknown> => {
    refreshed = given;
    const { failures: _, ...shards } = (await send("POST", "/both,away/_refresh")).body["_shards"]!;
    refreshed = REFRESHED;
    return shards;
  };
  assert.deepEqual(await counts({ missed: 1 }), { total: 3, successful: 1, failed: 2 });
  assert.deepEqual(await counts({ missed: 2 }), { total: 3, successful: 1, failed: 2 });
  const behind = new AppError("unavailable", "the log can't be read");
  assert.deepEqual(await counts({ missed: 0, behind }), { total: 3, successful: 0, failed: 2 });
  assert.deepEqual(await counts({ missed: 2, behind }), { total: 3, successful: 0, failed: 3 });
});

test("_segments, _recovery, _search_shards and _shard_stores list each copy with its node", async () => {
  const segments = (await send("GET", "/both/_segments")).body["indices"]!["both"]!["shards"]!["0"]!;
  assert.deepEqual(
    [segments[0]!["routing"], segments[1]!["routing"]],
    [
      { state: "STARTED", primary: true, node: "b" },
      { state: "STARTED", primary: false, node: "a" },
    ],
  );
  const recovery = (await send("GET", "/both,moving/_recovery")).body;
  const told = (index: string): unknown =>
    Array.from(recovery[index]!["shards"] as unknown as (typeof recovery)[], ({ primary, target }) => [
      primary,
      target!["ip"],
    ]);
  assert.deepEqual(told("both"), [
    [true, "127.0.0.2"],
    [false, "127.0.0.1"],
  ]);
  assert.deepEqual(told("moving"), [
    [true, "127.0.0.2"],
    [true, "127.0.0.3"],
  ]);
  const { nodes, shards } = (await send("GET", "/away,both,lost/_search_shards")).body;
  assert.deepEqual(Object.keys(nodes!), ["a", "b"]);
  const places = Array.from(shards as unknown as { node: string; primary: boolean }[][], (copies) =>
    copies.map((copy) => `${copy.node} ${copy.primary}`),
  );
  assert.deepEqual(places, [["b true"], ["b true", "a false"], []]);
  const stores = (await send("GET", "/both/_shard_stores?status=all")).body["indices"]!["both"]!["shards"]![
    "0"
  ]!;
  const allocations = Array.from(stores["stores"] as unknown as (typeof stores)[], (store) => [
    Object.keys(store)[0],
    store["allocation"],
  ]);
  assert.deepEqual(allocations, [
    ["b", "primary"],
    ["a", "replica"],
  ]);
});
