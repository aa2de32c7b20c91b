import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "#proto/kit/errors.ts";
import { START } from "#proto/position.ts";
import { messages, setting, started } from "#test/harness/running-pipeline.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Floors, notePurge, printPartitions, storeFloor } from "./floors.ts";

const at = (sequence: number) => ({ incarnation: 1, sequence });
const losses = { incarnation: 1, survives: () => true };

async function loaded(bucket: MemoryBucket): Promise<Floors> {
  const floors = new Floors();
  await floors.load(bucket, losses);
  return floors;
}

test("a hub's floor holds for its partitions, that of the purge for all", async () => {
  const bucket = new MemoryBucket();
  await storeFloor(bucket, "hub-1", {
    rawPosition: at(9),
    docPosition: START,
    docIncarnation: 1,
    partitions: printPartitions([7]),
  });
  assert.deepEqual((await loaded(bucket)).of(7), at(9));
  assert.deepEqual((await loaded(bucket)).of(8), START);
  await notePurge(bucket, at(4));
  const floors = await loaded(bucket);
  assert.deepEqual([floors.of(7), floors.of(8)], [at(9), at(4)]);
});

test("the floor of the purge never falls, also where two hubs note theirs at once", async () => {
  const bucket = new MemoryBucket();
  await Promise.all([notePurge(bucket, at(6)), notePurge(bucket, at(5)), notePurge(bucket, at(7))]);
  assert.deepEqual((await loaded(bucket)).of(0), at(7));
  await notePurge(bucket, at(3));
  assert.deepEqual((await loaded(bucket)).of(0), at(7));
});

test("a floor of lost documents doesn't count; one of an older version was compared with its position's incarnation", async () => {
  const bucket = new MemoryBucket();
  await bucket.put("floor.aHViLTE", Buffer.from(JSON.stringify({ rawPosition: at(9), docPosition: at(8) })));
  const floors = new Floors();
  const survives = (written: unknown): boolean => {
    assert.deepEqual(written, { rawPosition: at(9), docPosition: at(8), docIncarnation: 1 });
    return false;
  };
  await floors.load(bucket, { incarnation: 2, survives });
  assert.deepEqual(floors.of(7), START);
});

test("a purge that can't be noted fails", async () => {
  const bucket = new MemoryBucket();
  bucket.create = () => Promise.reject(new AppError("unavailable", "no answer"));
  await assert.rejects(notePurge(bucket, at(6)), { code: "unavailable" });
});

test("a floor that can't be read is named", async () => {
  const bucket = new MemoryBucket();
  await bucket.put("floor.aHViLTE", Buffer.from("{"));
  await assert.rejects(loaded(bucket), { code: "data_corrupt", message: /floor\.aHViLTE.*delete it/ });
});

test("an idle partition continues behind the purge, though its last hub has given it away", async (t) => {
  const log = setting();
  const [mayWrite, wait] = [() => true, Promise.withResolvers<void>()];
  const first = await started(t, log, { hub: "hub-1", sharing: { mayWrite } });
  await first.assign(new Set([7, 8]));
  log.raw.append({ text: "one\n", from: 0 });
  log.raw.append({ text: "two\n", from: 4 });
  await log.sink.reached(2);
  // Stores the floor of 8, then that of 7, as it ends the session.
  await first.assign(new Set([7]));
  log.raw.append({ text: "three\n", from: 8 });
  await log.sink.reached(3);
  await first.reload([]);
  await notePurge(log.cursors, at(3));
  log.raw.append({ text: "four\n", partition: 8, fileKey: "g" });
  const readFrom: number[] = [];
  const source = {
    read: (options: Parameters<typeof log.raw.read>[0]) => {
      readFrom.push(options.after.sequence);
      wait.resolve();
      return log.raw.read(options);
    },
  };
  const second = await started(t, log, { hub: "hub-2", sharing: { mayWrite }, source });
  await second.assign(new Set([8]));
  await wait.promise;
  assert.deepEqual(readFrom, [3]);
  await log.sink.reached(4);
  assert.equal(messages(log.sink).at(-1), "four");
});

test("a reader that finds messages removed continues behind them once it is noted that they were processed", async (t) => {
  const log = setting();
  log.raw.append({ text: "one\n", from: 0 });
  log.raw.append({ text: "two\n", from: 4 });
  const source = {
    async *read(options: Parameters<typeof log.raw.read>[0]) {
      if (options.after.sequence < 1) throw new AppError("journal_gap", "sequence 1 was removed");
      yield* log.raw.read(options);
    },
  };
  const pipeline = await started(t, log, { source });
  while (pipeline.status().problem === "") await setImmediate();
  await notePurge(log.cursors, at(1));
  await log.sink.reached(1);
  assert.deepEqual(messages(log.sink), ["two"]);
  assert.equal(pipeline.status().problem, "");
});
