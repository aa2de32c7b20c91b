import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { messages } from "#test/harness/running-pipeline.ts";
import { follow, HeldReaders, LOSSES, World } from "#test/support/pipeline/exchanged-partitions.ts";
import { Floors } from "./floors.ts";

test("partitions that stay are read and written while one that is given away is drained", async (t) => {
  const world = new World(t);
  const { sink, raw } = world.log;
  const source = new HeldReaders(raw);
  const pipeline = await world.hub({ source });
  await pipeline.assign(new Set([7, 8]));
  world.held.add(8);
  world.write(8, 3);
  world.write(7, 3);
  await world.untilHeld();
  const change = pipeline.assign(new Set([7]));
  const state = follow(change);
  world.write(7, 3);
  await sink.reached(6);
  assert.equal(state.isOver, false);
  world.open();
  await change;
  assert.equal(await world.covered(8), 3);
  world.write(7, 1);
  await sink.reached(10);
  assert.equal(source.begun, 1);
  world.assertOnce();
});

test("lines of a partition that was given away are another hub's", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const [first, second] = [await world.hub(), await world.hub({ hub: "hub-2" })];
  await first.assign(new Set([7, 8]));
  world.write(7, 2);
  world.write(8, 2);
  await sink.reached(4);
  await first.assign(new Set([7]));
  world.write(8, 2);
  world.write(7, 2);
  await sink.reached(6);
  await second.assign(new Set([8]));
  await sink.reached(8);
  await second.assign(new Set([8, 7]));
  await first.assign(new Set());
  world.assertOnce();
});

test("partitions are taken over at once while writes of others hang", async (t) => {
  const world = new World(t);
  world.held.add(7);
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7]));
  world.write(7, 3);
  world.write(8, 3);
  await world.untilHeld();
  await pipeline.assign(new Set([7, 8]));
  await world.log.sink.reached(3);
  assert.deepEqual(messages(world.log.sink), ["8/0", "8/1", "8/2"]);
  world.open();
  await world.log.sink.reached(6);
  world.assertOnce();
});

test("the backlog of partitions that are taken over keeps the others back neither before nor after it is read", async (t) => {
  const world = new World(t);
  const { sink, raw, cursors } = world.log;
  const source = new HeldReaders(raw);
  const pipeline = await world.hub({ source });
  world.write(8, 20);
  world.write(7, 2);
  await pipeline.assign(new Set([7]));
  await sink.reached(2);
  await pipeline.assign(new Set([7, 8]));
  assert.equal(pipeline.floor.sequence, 0);
  world.write(7, 10);
  await sink.reached(12);
  assert.equal(source.open, 2);
  source.letGo();
  await sink.reached(32);
  while (source.open > 1) await setImmediate();
  world.write(8, 2);
  world.write(7, 2);
  await sink.reached(36);
  assert.equal(source.begun, 2);
  await pipeline.assign(new Set([8]));
  const floors = new Floors();
  await floors.load(cursors, LOSSES);
  assert.equal(floors.of(7).sequence, 36);
  world.assertOnce();
});

test("partitions can be taken and given away while others catch up", async (t) => {
  const world = new World(t);
  const { sink, raw } = world.log;
  const source = new HeldReaders(raw);
  const pipeline = await world.hub({ source });
  for (const partition of [6, 8, 9, 7]) world.write(partition, 4);
  await pipeline.assign(new Set([7]));
  await sink.reached(4);
  await pipeline.assign(new Set([7, 8, 9]));
  await pipeline.assign(new Set([7, 9]));
  await pipeline.assign(new Set([6, 9]));
  world.write(9, 4);
  await setImmediate();
  assert.equal(sink.documents.length, 4);
  source.letGo();
  await sink.reached(16);
  while (source.open > 1) await setImmediate();
  world.write(6, 1);
  world.write(9, 1);
  await sink.reached(18);
  await pipeline.assign(new Set([6, 7, 8, 9]));
  await sink.reached(22);
  world.assertOnce();
});

test("a message that waited for capacity while its partition was given away and taken again isn't passed over", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const pipeline = await world.hub({ inFlightBytes: 1 });
  await pipeline.assign(new Set([7, 8]));
  world.held.add(7);
  world.write(7, 1);
  world.write(8, 1);
  await world.untilHeld();
  await pipeline.assign(new Set([7]));
  await pipeline.assign(new Set([7, 8]));
  world.open();
  await sink.reached(1);
  world.write(8, 1);
  await sink.reached(3);
  world.assertOnce();
});

test("a floor says where the next hub reads a partition that never had a message", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.write(7, 5);
  await sink.reached(5);
  await pipeline.assign(new Set([7]));
  const floors = new Floors();
  await floors.load(cursors, LOSSES);
  assert.equal(floors.of(8).sequence, 5);
});

test("a floor that is being stored when partitions are added isn't theirs", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  // The first floor is due at once.
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 3_600_000 };
  const pipeline = await world.hub({ clock });
  const [begun, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const put = cursors.put.bind(cursors);
  cursors.put = async (key, value) => {
    if (!key.startsWith("floor.")) return put(key, value);
    begun.resolve();
    await stored.promise;
    return put(key, value);
  };
  world.write(8, 2);
  await pipeline.assign(new Set([7]));
  world.write(7, 2);
  await sink.reached(2);
  await begun.promise;
  world.held.add(8);
  await pipeline.assign(new Set([7, 8]));
  stored.resolve();
  await world.untilHeld();
  for (let at = 0; at < 10; at++) await setImmediate();
  assert.equal(pipeline.floor.sequence, 0);
  world.open();
  await sink.reached(4);
});
