import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import { until } from "#test/harness/until.ts";
import {
  count,
  MemoryLog,
  type Node,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { markShard, ShardFolders, shardKey } from "./shard-folders.ts";
import { ShardHost } from "./shard-host.ts";

interface World {
  readonly log: MemoryLog;
  readonly bucket: MemoryBucket;
  readonly folders: readonly [string, string];
  readonly nodes: readonly [Node, Node];
  readonly uuid: string;
}

/** Numbers of the shards of the index a. */
function shardsOf({ catalog }: Node): number[] {
  return Array.from({ length: catalog.get("a")!.settings.numberOfShards }, (_, shard) => shard);
}

/** Two hubs with one log and the indices a and b; the second has dropped the shards of a. */
async function openWorld(t: TestContext): Promise<World> {
  const log = new MemoryLog();
  const bucket = new MemoryBucket();
  const folders = [temporaryFolder(t), temporaryFolder(t)] as const;
  const nodes = [
    await openNode(t, log, folders[0], bucket),
    await openNode(t, log, folders[1], bucket),
  ] as const;
  await nodes[0].documents.write([put("1", {}), put("1", {}, "b")], options);
  await reached(nodes[1], log);
  const { uuid } = nodes[0].catalog.get("a")!;
  for (const shard of shardsOf(nodes[0])) nodes[1].host.placed.drop(uuid, shard);
  return { log, bucket, folders, nodes, uuid };
}

function reached({ host }: Node, { messages }: MemoryLog): Promise<unknown> {
  return until("the end of the log", async () => host.position.sequence >= messages.length);
}

/** Copies the shards' committed files, and returns the position that they cover. */
function copyShards(t: TestContext, { folders: [from], nodes: [first], uuid }: World) {
  const position = first.host.commit();
  const staged = temporaryFolder(t);
  for (const shard of shardsOf(first))
    cpSync(join(from, uuid, String(shard)), join(staged, String(shard)), {
      recursive: true,
      filter: (path) => !path.endsWith(".lock"),
    });
  return { position, filesOf: (shard: number) => join(staged, String(shard)) };
}

/** Lets the second hub take the shards of a. */
function takeAll({ nodes: [first, second], uuid }: World, copy: ReturnType<typeof copyShards>): Position {
  let position = second.host.position;
  for (const shard of shardsOf(first)) {
    const files = copy.filesOf(shard);
    position = second.host.placed.take({ uuid, shard, from: copy.position, files }) ?? position;
  }
  second.follower.reread();
  return position;
}

test("a shard that was dropped is gone from disk, and its messages are passed over without an answer", async (t) => {
  const { nodes, folders, log, uuid } = await openWorld(t);
  assert.equal(existsSync(join(folders[1], uuid, "0")), false);
  await nodes[0].documents.write([put("2", {}), put("2", {}, "b")], options);
  await reached(nodes[1], log);
  assert.equal((await nodes[0].documents.get("a", "2", {}))?.version, 1);
  await assert.rejects(nodes[1].documents.get("a", "2", {}), { code: "unavailable" });
  assert.equal((await nodes[1].documents.get("b", "2", {}))?.version, 1);
  assert.throws(() => nodes[1].host.searcher(nodes[1].catalog.get("a")!, 0), { code: "unavailable" });
  assert.deepEqual(nodes[1].dead, []);
});

test("a shard that comes with its files takes the rest from the log, and others take nothing twice", async (t) => {
  const world = await openWorld(t);
  const { nodes, log } = world;
  const [first, second] = nodes;
  await first.documents.write([put("2", {}), put("2", {}, "b")], options);
  const copy = copyShards(t, world);
  await first.documents.write([put("3", {}), put("1", { again: true })], options);
  await reached(second, log);
  assert.deepEqual(takeAll(world, copy), copy.position);
  await reached(second, log);
  await second.host.refresh(second.catalog.all());
  assert.deepEqual([count(second, "a"), count(second, "b")], [count(first, "a"), count(first, "b")]);
  assert.equal((await second.documents.get("a", "1", {}))?.version, 2);
  assert.equal((await second.documents.get("b", "2", {}))?.version, 1);
});

test("a crash after a shard came repeats what it needs of the log", async (t) => {
  const world = await openWorld(t);
  const { nodes, log, folders, bucket } = world;
  const [first, second] = nodes;
  const copy = copyShards(t, world);
  await first.documents.write([put("2", {}), put("3", {})], options);
  await reached(second, log);
  second.host.commit();
  takeAll(world, copy);
  second.crash();
  const again = await openNode(t, log, folders[1], bucket);
  await reached(again, log);
  await again.host.refresh(again.catalog.all());
  assert.equal(count(again, "a"), count(first, "a"));
});

test("what other shards have applied is on disk before a position that covers it is", async (t) => {
  const world = await openWorld(t);
  const { nodes, log, folders, bucket } = world;
  const [first, second] = nodes;
  await first.documents.write([put("2", {}, "b"), put("3", {}, "b")], options);
  await reached(second, log);
  // The other hub has committed more than this one, whose position doesn't go back.
  takeAll(world, copyShards(t, world));
  second.crash();
  const again = await openNode(t, log, folders[1], bucket);
  await reached(again, log);
  await again.host.refresh(again.catalog.all());
  assert.deepEqual([count(again, "a"), count(again, "b")], [1, 3]);
});

test("a crash between the move of a shard's files and the position removes the shard", async (t) => {
  const world = await openWorld(t);
  const { nodes, log, folders, bucket, uuid } = world;
  const [first, second] = nodes;
  const copy = copyShards(t, world);
  await first.documents.write([put("2", {}), put("3", {})], options);
  await reached(second, log);
  second.host.commit();
  new ShardFolders(folders[1], silentLogger()).moveIn(second.catalog.get("a")!, 0, copy.filesOf(0));
  second.crash();
  const again = await openNode(t, log, folders[1], bucket);
  assert.equal(again.host.placed.isAbsent(uuid, 0), true);
  assert.equal(existsSync(join(folders[1], uuid, "0")), false);
  // It can be taken again.
  again.host.placed.take({ uuid, shard: 0, from: copy.position, files: copyShards(t, world).filesOf(0) });
  again.follower.reread();
  await reached(again, log);
  assert.equal(again.host.placed.holds({ uuid, shard: 0 }, again.host.position), true);
});

test("a shard without committed files begins empty, and reads the log from where the other hub is", async (t) => {
  const world = await openWorld(t);
  const { nodes, log, uuid } = world;
  const [first, second] = nodes;
  for (const shard of shardsOf(first))
    second.host.placed.take({ uuid, shard, from: { incarnation: 1, sequence: 0 } });
  assert.equal(second.host.position.sequence, 0);
  second.follower.reread();
  await reached(second, log);
  await second.host.refresh(second.catalog.all());
  assert.equal(count(second, "a"), 1);
});

test("a damaged copy is refused and removed", async (t) => {
  const world = await openWorld(t);
  const { nodes, folders, uuid } = world;
  const files = temporaryFolder(t);
  // A manifest that names nothing that is there.
  cpSync(join(folders[0], uuid, "index.json"), join(files, "manifest-3.json"));
  const take = () => nodes[1].host.placed.take({ uuid, shard: 0, from: nodes[1].host.position, files });
  assert.throws(take, { code: "data_corrupt" });
  assert.equal(existsSync(join(folders[1], uuid, "0")), false);
  assert.equal(nodes[1].host.placed.isAbsent(uuid, 0), true);
});

test("a shard is removed also where it was never opened", async (t) => {
  const { nodes, folders, uuid } = await openWorld(t);
  mkdirSync(join(folders[1], uuid, "0"), { recursive: true });
  nodes[1].host.placed.drop(uuid, 0);
  assert.equal(existsSync(join(folders[1], uuid, "0")), false);
});

test("a message that waits doesn't move the position past what a shard that comes needs", async (t) => {
  const world = await openWorld(t);
  const { nodes, log } = world;
  const [first, second] = nodes;
  const copy = copyShards(t, world);
  await first.documents.write([put("2", {}), put("3", {})], options);
  await reached(second, log);
  const waits = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const prepare = second.host.prepare.bind(second.host);
  second.host.prepare = () => {
    waiting.resolve();
    return waits.promise;
  };
  await first.documents.write([put("4", {}, "b")], options);
  await waiting.promise;
  takeAll(world, copy);
  second.host.prepare = prepare;
  waits.resolve();
  await reached(second, log);
  await second.host.refresh(second.catalog.all());
  assert.deepEqual([count(second, "a"), count(second, "b")], [3, 2]);
});

test("a thread that starts again removes files of shards that it isn't to have", async (t) => {
  const { nodes, folders, uuid } = await openWorld(t);
  nodes[0].host.commit();
  nodes[0].crash();
  const { catalog } = nodes[1];
  const absent = new Set([shardKey(uuid, 0)]);
  const host = new ShardHost({
    folder: folders[0],
    catalog,
    log: silentLogger(),
    clock: systemClock,
    absent,
  });
  await host.open();
  host.close();
  assert.equal(existsSync(join(folders[0], uuid, "0")), false);
});

test("a shard that lacks what the log has purged is searched, and isn't a copy for others", async (t) => {
  const { nodes, log, folders, bucket } = await openWorld(t);
  const { uuid } = nodes[1].catalog.get("b")!;
  const [whole] = nodes[1].host.placed.holdings().filter((each) => each.uuid === uuid);
  assert.deepEqual(whole, { uuid, shard: 0, isWhole: true });
  nodes[1].host.commit();
  nodes[1].crash();
  markShard(folders[1], { uuid, shard: 0 }, "incomplete");
  const again = await openNode(t, log, folders[1], bucket);
  const [now] = again.host.placed.holdings().filter((each) => each.uuid === uuid);
  assert.deepEqual(now, { uuid, shard: 0, isWhole: false });
  assert.equal(again.host.placed.holds({ uuid, shard: 0 }, again.host.position), false);
  assert.equal(again.host.setBack()?.isIncomplete, true);
  assert.equal(count(again, "b"), 1);
});
