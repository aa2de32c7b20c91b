import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import {
  count,
  MemoryLog,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import type { Documents } from "./documents.ts";
import { shardOf } from "./routing.ts";

/** Long enough that a test which waits for it fails by its own limit. */
const LONG = { refresh: "false", timeoutMs: 300_000, signal: new AbortController().signal } as const;

function codes(results: Awaited<ReturnType<Documents["write"]>>): string[] {
  return results.map((result) => ("error" in result ? result.error.code : result.result));
}

test("documents written over several shards come back by id with version and sequence number", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const items = Array.from({ length: 40 }, (_, number) => put(String(number), { number }));
  const results = await node.documents.write(items, options);
  assert.ok(
    results.every((result) => "result" in result && result.result === "created" && result.version === 1),
  );
  assert.equal(count(node, "a"), 40);
  const again = await node.documents.write([put("7", { number: 70 })], options);
  assert.equal("version" in again[0]! && again[0].version, 2);
  const found = await node.documents.get("a", "7", {});
  assert.deepEqual(JSON.parse(Buffer.from(found!.source).toString()), { number: 70 });
  assert.equal(await node.documents.get("a", "none", {}), null);
});

test("others have the thread while many items are made ready", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.documents.write([put("0", { number: 0 })], options);
  let ms = performance.now();
  t.mock.method(performance, "now", () => (ms += 1));
  let turns = 0;
  let isOver = false;
  const takeTurn = (): void => {
    turns++;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  let turnsBefore: number | undefined;
  log.beforePublish = async () => {
    turnsBefore ??= turns;
  };
  const items = Array.from({ length: 1_000 }, (_, number) => put(String(number), { number }));
  await node.documents.write(items, LONG);
  isOver = true;
  assert.ok(turnsBefore !== undefined && turnsBefore >= 100, `${turnsBefore} turns`);
});

test("items fail one by one", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const results = await node.documents.write(
    [
      put("1", { n: 1 }),
      put("2", { n: "no number" }),
      put("3", { n: 3 }, "Bad Name"),
      put("3", { n: 3 }, "half-\ud800"),
      put("half-\ud800", { n: 1 }),
      { ...put("3", { n: 1 }), routing: "half-\udc00" },
      { kind: "create", index: "a", id: "1", source: Buffer.from("{}") },
      { kind: "delete", index: "a", id: "9" },
      {
        kind: "update",
        index: "a",
        id: "8",
        source: Buffer.from("{}"),
        docAsUpsert: false,
        detectNoop: true,
      },
    ],
    options,
  );
  const outcomes = results.map((result) => ("error" in result ? result.error.code : result.result));
  assert.deepEqual(outcomes, [
    "created",
    "mapping_parse",
    "index_name_invalid",
    "index_name_invalid",
    "request_invalid",
    "request_invalid",
    "version_conflict",
    "not_found",
    "document_missing",
  ]);
});

test("an index whose mapping requires routing refuses items and reads without it", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.catalog.create("a", { settings: {}, mappings: { _routing: { required: true } }, aliases: {} });
  const source = Buffer.from("{}");
  const update = {
    kind: "update",
    index: "a",
    id: "1",
    source,
    docAsUpsert: true,
    detectNoop: true,
  } as const;
  const items = [
    { ...put("1", { n: 1 }), routing: "r" },
    put("1", { n: 1 }),
    update,
    { kind: "delete", index: "a", id: "1" } as const,
  ];
  const results = await node.documents.write(items, options);
  assert.deepEqual(codes(results), ["created", ...Array(3).fill("routing_missing")]);
  const refusal = "error" in results[1]! && results[1].error.message;
  assert.equal(refusal, "routing is required for [a]/[_doc]/[1]");
  const run = { bytes: source, start: 0, ends: Uint32Array.of(2), gap: 0, indexNames: ["a"] };
  assert.equal(await node.documents.append(run, options), null);
  assert.equal((await node.documents.get("a", "1", { routing: "r" }))?.version, 1);
  await assert.rejects(node.documents.get("a", "1", {}), { code: "routing_missing" });
});

test("the documents of a closed index can't be read or written", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  await node.catalog.setState("a", "close");
  await assert.rejects(node.documents.get("a", "1", {}), { code: "index_closed" });
  assert.deepEqual(codes(await node.documents.write([put("1", { n: 2 })], options)), ["index_closed"]);
});

test("a write whose index is deleted before its shard sees it is answered immediately", {
  timeout: 30_000,
}, async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  log.beforePublish = async () => {
    log.beforePublish = async () => undefined;
    await node.catalog.delete(["a"]);
  };
  const results = await node.documents.write([put("2", {}), put("3", {})], { ...LONG, refresh: "wait_for" });
  assert.deepEqual(codes(results), ["index_missing", "index_missing"]);
});

test("a write that its shard cannot apply is answered when it is put aside", {
  timeout: 30_000,
}, async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  const apply = node.host.apply.bind(node.host);
  node.host.apply = (batch, position) => {
    if (batch.id(0) === "2") throw new Error("a fault in the code");
    return apply(batch, position);
  };
  const results = await node.documents.write([put("2", {})], LONG);
  assert.deepEqual(codes(results), ["internal"]);
  assert.equal(node.dead.length, 1);
  assert.deepEqual(codes(await node.documents.write([put("3", {})], LONG)), ["created"]);
});

test("a write that the log or the catalog doesn't take in time fails with a timeout", {
  timeout: 30_000,
}, async (t) => {
  const log = new MemoryLog();
  const bucket = new MemoryBucket();
  const node = await openNode(t, log, temporaryFolder(t), bucket);
  await node.documents.write([put("1", {})], options);
  const short = { ...LONG, timeoutMs: 20 };
  log.beforePublish = async (signal) => {
    await new Promise((resolve) => signal!.addEventListener("abort", resolve, { once: true }));
    throw new AppError("timeout", "NATS didn't take it in time");
  };
  assert.deepEqual(codes(await node.documents.write([put("2", {})], short)), ["timeout"]);
  t.mock.method(bucket, "create", () => new Promise(() => undefined));
  await assert.rejects(
    node.documents.write([put("2", {}, "new")], short),
    (error: AppError) => error.code === "timeout" && error.message.includes("nothing was written"),
  );
});

test("a write that the log took late waits for its shard no longer than its time", {
  timeout: 30_000,
}, async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  await node.follower.stop();
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  t.mock.method(performance, "now", () => now() + aheadMs);
  log.beforePublish = async () => void (aheadMs += LONG.timeoutMs);
  const [result] = await node.documents.write([put("2", {})], LONG);
  assert.ok(result !== undefined && "error" in result);
  assert.deepEqual([result.error.code, result.error.data], ["timeout", { durable: true }]);
});

test("waiting for a refresh ends with the refresh of its own index, or with a refresh made at the deadline", {
  timeout: 30_000,
}, async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", {}, "often"), put("1", {}, "seldom")], options);
  await node.catalog.putSettings("seldom", { "index.refresh_interval": "1h" });
  const seldom = node.catalog.get("seldom")!;
  node.host.refreshDue();
  let over = false;
  const waiting = node.host.nextRefresh([seldom], AbortSignal.timeout(30_000)).then(() => (over = true));
  await node.host.nextRefresh([node.catalog.get("often")!], AbortSignal.timeout(30_000));
  assert.equal(over, false, "another index's refresh is none of its own");
  await node.documents.write([put("2", {}, "seldom")], { ...LONG, refresh: "wait_for", timeoutMs: 50 });
  assert.equal(count(node, "seldom"), 2);
  await waiting;
});

test("a refresh with a write makes the shards that it went to visible, and no others", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("0", {})], options);
  const { numberOfShards } = node.catalog.get("a")!.settings;
  const idIn = (wanted: number): string => {
    for (let number = 1; ; number++)
      if (shardOf(`${number}`, "", numberOfShards) === wanted) return `${number}`;
  };
  await node.catalog.putSettings("a", { refresh_interval: "-1" });
  await node.documents.write([put(idIn(0), {}), put(idIn(1), {})], LONG);
  assert.equal(count(node, "a"), 1);
  await node.host.refresh([node.catalog.get("a")!]);
  assert.equal(count(node, "a"), 3);
  const deleted = (id: string) => ({ kind: "delete", index: "a", id }) as const;
  await node.documents.write([deleted(idIn(0))], LONG);
  await node.documents.write([deleted(idIn(1))], { ...LONG, refresh: "true" });
  assert.equal(count(node, "a"), 2);
  await node.host.refresh([node.catalog.get("a")!]);
  assert.equal(count(node, "a"), 1);
});

test("a refresh that takes longer than the request's time ends with the write's result, which is stored", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  t.mock.method(node.host, "refresh", () => new Promise(() => undefined));
  const results = await node.documents.write([put("2", {})], { ...LONG, refresh: "true", timeoutMs: 50 });
  assert.deepEqual(codes(results), ["created"]);
  assert.notEqual(await node.documents.get("a", "2", {}), null);
});
