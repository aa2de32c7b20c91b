import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { START } from "#proto/position.ts";
import { World } from "#test/support/pipeline/exchanged-partitions.ts";
import { exitingWorker } from "#test/support/pipeline/exiting-worker.ts";
import type { WrittenDocuments } from "./ports.ts";

test("a cursor that another hub stores during a change has the session load it again", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.write(7, 2);
  await sink.reached(2);
  while ((await world.covered(7)) < 2) await setImmediate();
  world.held.add(8);
  world.write(8, 1);
  await world.untilHeld();
  const change = pipeline.assign(new Set([7]));
  const { value } = (await cursors.get("cursor.7"))!;
  const other = { ...(JSON.parse(Buffer.from(value).toString()) as object), owner: "other" };
  await cursors.put("cursor.7", Buffer.from(JSON.stringify(other)));
  world.write(7, 2);
  await sink.reached(4);
  await systemClock.sleep(400); // until the cursor is to be stored
  world.open();
  await change;
  world.write(7, 2);
  await sink.reached(7);
  assert.deepEqual(world.arrived, world.written);
});

test("a partition that has stopped is processed again after a change", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const stopped = Promise.withResolvers<number>();
  let isMember = true;
  const pipeline = await world.hub({
    sharing: { mayWrite: () => isMember },
    events: {
      onPartitionStopped: (partition) => {
        isMember = true;
        stopped.resolve(partition);
      },
    },
  });
  await pipeline.assign(new Set([7, 8]));
  cursors.create = () => {
    delete (cursors as Partial<typeof cursors>).create;
    isMember = false;
    return Promise.reject(new AppError("journal_conflict", "another hub has stored it"));
  };
  world.write(7, 2);
  await sink.reached(2);
  assert.equal(await stopped.promise, 7);
  world.write(7, 2);
  world.write(8, 2);
  await pipeline.assign(new Set([7, 8, 9]));
  await sink.reached(6);
  assert.deepEqual(world.arrived, world.written);
});

test("a pipeline that stops during a change stores what has arrived", async (t) => {
  const world = new World(t);
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.held.add(8);
  world.write(8, 1);
  await world.untilHeld();
  const change = assert.rejects(pipeline.assign(new Set([7])), { code: "closed" });
  await setImmediate();
  const stopped = pipeline.stop();
  await change;
  world.open();
  await stopped;
  assert.equal(await world.covered(8), 1);
});

test("a membership that lapses during a change ends it", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.held.add(8);
  world.write(8, 2);
  await world.untilHeld();
  const change = pipeline.assign(new Set([7, 9]));
  await setImmediate();
  pipeline.abandon();
  world.open();
  await change;
  await pipeline.assign(new Set());
  await pipeline.assign(new Set([7, 8]));
  world.write(7, 1);
  await sink.reached(3);
  assert.deepEqual(world.arrived, world.written);
});

test("where the cursors of new partitions can't be loaded, the others are read on, and the next try takes them", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([6, 7]));
  cursors.keys = () => Promise.reject(new AppError("unavailable", "no answer"));
  await assert.rejects(pipeline.assign(new Set([7, 8])), { code: "unavailable" });
  for (const partition of [6, 7, 8]) world.write(partition, 2);
  await sink.reached(2);
  delete (cursors as Partial<typeof cursors>).keys;
  await pipeline.assign(new Set([6, 7, 8]));
  await sink.reached(6);
  world.assertOnce();
});

test("a loss before a change is taken into account for partitions that stay as well", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const losses = { incarnation: 1, survives: () => losses.incarnation === 1 };
  const pipeline = await world.hub({ losses });
  await pipeline.assign(new Set([7]));
  world.write(7, 3);
  await sink.reached(3);
  losses.incarnation = 2;
  await pipeline.assign(new Set([7, 8]));
  while (sink.writes.length < 6) await setImmediate();
  assert.deepEqual(pipeline.written.sequence, 6);
});

test("a loss during a change is taken into account for new partitions as well", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const losses = {
    incarnation: 1,
    survives: (written: WrittenDocuments) => written.docIncarnation === losses.incarnation,
  };
  const [first, second] = [await world.hub({ losses }), await world.hub({ losses, hub: "hub-2" })];
  await first.assign(new Set([7]));
  await second.assign(new Set([8]));
  for (const partition of [7, 8]) world.write(partition, 2);
  await sink.reached(4);
  await second.assign(new Set());
  const keys = cursors.keys.bind(cursors);
  cursors.keys = async (prefix) => {
    const found = await keys(prefix);
    losses.incarnation = 2;
    return found;
  };
  await first.assign(new Set([7, 8]));
  assert.deepEqual(first.floor, START);
  const { length } = sink.writes;
  await first.resume();
  const again = (): Set<number> => new Set(sink.writes.slice(length).map(({ origin }) => origin.rawSequence));
  while (again().size < 4) await setImmediate();
  assert.deepEqual(world.arrived, world.written);
});

test("where a cursor can't be stored, the next hub repeats what came after the stored one, and shards drop it", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const [first, second] = [await world.hub(), await world.hub({ hub: "hub-2" })];
  await first.assign(new Set([7, 8]));
  const create = t.mock.method(cursors, "create", () =>
    Promise.reject(new AppError("unavailable", "no answer")),
  );
  for (const partition of [7, 8]) world.write(partition, 2);
  await sink.reached(4);
  await first.assign(new Set([7]));
  create.mock.restore();
  world.write(8, 1);
  await second.assign(new Set([8]));
  await sink.reached(5);
  assert.deepEqual(world.arrived, world.written);
});

test("a thread that dies during a change does its batch again", async (t) => {
  const world = new World(t);
  const folder = mkdtempSync(join(tmpdir(), "tailrace-change-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { script: workerScript, mark } = exitingWorker(folder);
  const settings = { id: "main", workers: 1, batchSize: 1, batchDelayMs: 1 };
  const [first, second] = [await world.hub({ workerScript, settings }), await world.hub({ hub: "hub-2" })];
  await first.assign(new Set([7, 8]));
  world.write(7, 4);
  world.write(8, 4);
  await world.log.sink.reached(5);
  await first.assign(new Set([7]));
  assert.ok(existsSync(mark));
  await second.assign(new Set([8]));
  await world.log.sink.reached(8);
  world.assertOnce();
});
