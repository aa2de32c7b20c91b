import assert from "node:assert/strict";
import fs, { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext as Run, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { StreamSink } from "#agent/inputs/streams/stream-sink.ts";
import { eventsOf, type TestContext, testContext } from "#test/support/agent/recording-output.ts";
import { SegmentReader, SegmentWriter } from "./segment.ts";

const NONE = new Uint8Array();
const texts = (context: TestContext): string[] => eventsOf(context).map(({ message }) => message);
const line = (n: number): Buffer => Buffer.from(`${String(n).padStart(5, "0")} ${"x".repeat(100)}`);

async function sinkOf(t: Run, context: TestContext, spoolBytes: number): Promise<StreamSink> {
  const sink = new StreamSink("tcp", context, { spoolBytes });
  sink.open();
  t.after(() => sink.stop());
  return sink;
}

const files = (context: TestContext): string[] =>
  readdirSync(join(context.dataFolder, "spool", "test")).filter((name) => name.endsWith(".spool"));

test("events go to disk while the output has no free slot, and arrive in order when it has one", async (t) => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  context.output.acking = false;
  const sink = await sinkOf(t, context, 10_000_000);
  const expected = Array.from({ length: 2_000 }, (_, n) => line(n).toString());
  for (let n = 0; n < 2_000; n++) await sink.put(line(n), NONE);
  assert.ok(sink.state().lagBytes > 200_000);
  assert.equal(context.output.sent.length, 1);
  context.output.acking = true;
  context.output.sent[0]!.ack();
  await context.output.until(() => texts(context).length === 2_000);
  assert.deepEqual(texts(context), expected);
  while (files(context).length > 0) await turn();
  await sink.put(line(2_000), NONE);
  sink.flush();
  await context.output.until(() => texts(context).length === 2_001);
});

test("spooled lines are sent after a restart, with the same source and offsets", async (t) => {
  let context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  context.output.acking = false;
  let sink = await sinkOf(t, context, 10_000_000);
  for (let n = 0; n < 400; n++) await sink.put(line(n), NONE);
  const memory = texts(context).length;
  context.output.sent[0]!.ack();
  await context.output.until(() => context.output.sent.length === 2);
  const [, unacknowledged] = context.output.sent;
  await sink.stop();
  context = await context.restart();
  sink = await sinkOf(t, context, 10_000_000);
  await context.output.until(() => texts(context).length === 400 - memory);
  const [again] = context.output.sent;
  assert.deepEqual([again!.source, again!.from], [unacknowledged!.source, unacknowledged!.from]);
  assert.deepEqual(texts(context)[0], line(memory).toString());
});

test("a full spool blocks senders that can wait, and counts the lost lines of others", async (t) => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  context.output.acking = false;
  const sink = await sinkOf(t, context, 4_000);
  let taken = 0;
  const all = (async () => {
    for (let n = 0; n < 300; n++) {
      await sink.put(line(n), NONE);
      taken++;
    }
  })();
  while (context.output.sent.length === 0) await turn();
  for (let n = 0; n < 50; n++) await turn();
  assert.ok(taken < 300);
  assert.equal(sink.offer(line(0), NONE), false);
  context.output.acking = true;
  context.output.sent[0]!.ack();
  await all;
  sink.flush();
  await context.output.until(() => texts(context).length === 300);
  assert.deepEqual(
    texts(context),
    Array.from({ length: 300 }, (_, n) => line(n).toString()),
  );
});

test("nothing is read after a torn record, and a foreign file is logged and skipped", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  const folder = join(context.dataFolder, "spool", "test");
  mkdirSync(folder, { recursive: true });
  const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
  const path = join(folder, `000000000001-${uuid(1)}.spool`);
  const writer = new SegmentWriter(path);
  for (let n = 0; n < 3; n++) writer.append({ message: line(n), timeMs: 5, fieldsJson: Buffer.from("{}") });
  writer.close();
  truncateSync(path, readFileSync(path).length - 1);
  writeFileSync(join(folder, `000000000002-${uuid(2)}.spool`), "something else");
  await sinkOf(t, context, 10_000);
  await context.output.until(() => texts(context).length === 2);
  while (files(context).length > 0) await turn();
  assert.equal(eventsOf(context)[0]!.timeMs, 5);
});

test("a damaged record is found", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  const path = join(context.folder, "a.spool");
  const writer = new SegmentWriter(path);
  writer.append({ message: line(1), timeMs: 0, fieldsJson: NONE });
  writer.close();
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  const reader = new SegmentReader(path);
  assert.throws(() => reader.next(), { code: "data_corrupt", message: /byte 8 is damaged/ });
  reader.close();
});

test("what the output has not taken at the end is on disk, and arrives after the next start", async (t) => {
  let context = await testContext({ slots: 2, batchBytes: 16_384 });
  t.after(() => context.dispose());
  context.output.acking = false;
  let sink = await sinkOf(t, context, 10_000_000);
  for (let n = 0; n < 200; n++) await sink.put(line(n), NONE);
  await sink.stop();
  sink.preserve();
  context = await context.restart();
  sink = await sinkOf(t, context, 10_000_000);
  await context.output.until(() => texts(context).length === 200);
  assert.deepEqual(
    texts(context),
    Array.from({ length: 200 }, (_, n) => line(n).toString()),
  );
});

test("without a spool the lines that the output has not taken at the end are counted as lost", async (t) => {
  const context = await testContext({ slots: 2, batchBytes: 16_384 });
  t.after(() => context.dispose());
  context.output.acking = false;
  const sink = await sinkOf(t, context, 0);
  await sink.put(line(0), NONE);
  await sink.stop();
  sink.preserve();
  const { values } = await context.metrics.dropped.get();
  assert.deepEqual(values, [{ labels: { input: "test" }, value: 1 }]);
});

for (const [spoolBytes, name] of [
  [0, "without a spool"],
  [10_000_000, "through the spool"],
] as const)
  test(`a message larger than a batch arrives ${name}; one that the output can't carry is truncated`, async (t) => {
    const context = await testContext({ slots: 1, batchBytes: 16_384 });
    t.after(() => context.dispose());
    const sink = await sinkOf(t, context, spoolBytes);
    if (spoolBytes > 0) context.output.acking = false;
    const most = context.output.maxBodyBytes;
    for (const bytes of [10, 100_000, most + 1_000, 20]) await sink.put(Buffer.alloc(bytes, "x"), NONE);
    context.output.acking = true;
    context.output.sent[0]?.ack();
    sink.flush();
    await context.output.until(() => texts(context).length === 4);
    assert.deepEqual(
      eventsOf(context).map(({ message, fields }) => [message.length, fields]),
      [
        [10, {}],
        [100_000, {}],
        [most - 256, { log: { flags: ["truncated"] } }],
        [20, {}],
      ],
    );
    const { values } = await context.metrics.truncatedBytes.get();
    assert.equal(values[0]?.value, 1_256);
  });

/** Lets a function of node:fs fail as a disk does, until the test ends or the returned function is called. */
function failing(t: Run, name: "writeSync" | "fsyncSync" | "openSync", code = "ENOSPC"): () => void {
  const mocked = t.mock.method(fs, name, () => {
    throw Object.assign(new Error(`${code}: refused`), { code });
  });
  syncBuiltinESMExports();
  const end = (): void => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  };
  t.after(end);
  return end;
}

test("a full disk leaves neither files nor descriptors, and the spool is used when there is space", async (t) => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  const slot = context.output.slots.tryAcquire();
  const sink = await sinkOf(t, context, 10_000_000);
  const descriptors = readdirSync("/proc/self/fd").length;
  const end = failing(t, "writeSync");
  for (let n = 0; n < 10; n++) assert.equal(sink.offer(line(n), NONE), false);
  assert.deepEqual([files(context), readdirSync("/proc/self/fd").length], [[], descriptors]);
  end();
  assert.equal(sink.offer(line(1), NONE), true);
  slot?.release();
  await context.output.until(() => texts(context).length === 1);
});

test("events that a disk doesn't confirm are sent nevertheless", async (t) => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  const slot = context.output.slots.tryAcquire();
  const sink = await sinkOf(t, context, 10_000_000);
  assert.equal(sink.offer(line(1), NONE), true);
  failing(t, "fsyncSync");
  slot?.release();
  await context.output.until(() => texts(context).length === 1);
});

for (const code of ["EMFILE", "EACCES"])
  test(`a segment that can't be opened (${code}) is sent when it can be again`, async (t) => {
    const context = await testContext({ slots: 1, batchBytes: 16_384 });
    t.after(() => context.dispose());
    const refused = Promise.withResolvers<void>();
    context.clock.sleep = () => {
      refused.resolve();
      return turn();
    };
    const slot = context.output.slots.tryAcquire();
    const sink = await sinkOf(t, context, 10_000_000);
    assert.equal(sink.offer(line(1), NONE), true);
    const end = failing(t, "openSync", code);
    slot?.release();
    await refused.promise;
    end();
    await context.output.until(() => texts(context).length === 1);
    const { values } = await context.metrics.lostBytes.get();
    assert.deepEqual(values, []);
  });

test("that segments can't be opened is logged once, though further events are written", async (t) => {
  const context = await testContext({ slots: 1, batchBytes: 16_384 });
  t.after(() => context.dispose());
  const logged = t.mock.method(context.log, "error");
  let tries = 0;
  const sink = await sinkOf(t, context, 10_000_000);
  context.clock.sleep = () => {
    tries++;
    sink.offer(line(tries), NONE);
    return turn();
  };
  const slot = context.output.slots.tryAcquire();
  sink.offer(line(0), NONE);
  const { openSync } = fs;
  const mocked = t.mock.method(fs, "openSync", (path: string, flags: string, mode?: number) => {
    if (flags === "r") throw Object.assign(new Error("EACCES: refused"), { code: "EACCES" });
    return openSync(path, flags, mode);
  });
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  slot?.release();
  while (tries < 5) await turn();
  assert.equal(logged.mock.callCount(), 1);
});
