import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import { documentsOf } from "#proto/document-batch.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { Compression } from "#proto/messages.ts";
import { AGENT_ID, type FoldingSink } from "#test/harness/pipeline-log.ts";
import {
  expectedMessages,
  fill,
  messages,
  numbered,
  setting,
  started,
} from "#test/harness/running-pipeline.ts";
import { until } from "#test/harness/until.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import type { PipelineOptions } from "./pipeline-options.ts";
import type { CursorEvent } from "./ports.ts";

const FRAIL_WORKER = new URL("../../../test/fixtures/failing-pipeline-worker.ts", import.meta.url);

test("lines come out as documents in the order of their file, with the fields of an event", async (t) => {
  const at = setting();
  fill(at.raw, 1000, 10);
  await started(t, at, { settings: { id: "main", workers: 2, batchSize: 20, batchDelayMs: 1 } });
  await at.sink.reached(1000);
  assert.deepEqual(messages(at.sink), expectedMessages(1000));
  const { source, index, id } = at.sink.documents[1]!;
  const { event, ...rest } = source;
  assert.equal(index, "logs-2024.01.02");
  assert.equal(id.length, 20);
  assert.match((event as { ingested: string }).ingested, /^\d{4}-.*Z$/);
  assert.deepEqual(rest, {
    "@timestamp": "2024-01-02T00:00:00.000Z",
    message: "line 1",
    log: { file: { path: "/var/log/f" }, offset: 7 },
    host: { name: "host-1" },
    shipper: { id: "0d5c1f4e-8a44-4c4e-9c7e-0f6f6b1c2d3e", name: "web-1", version: "6.5.0" },
    input: { type: "log" },
  });
  assert.equal(new Set(at.sink.documents.map((document) => document.id)).size, 1000);
});

test("a block packed by zstd is read like any other", async (t) => {
  const at = setting();
  const text = numbered(0, 50);
  const properties = { data: zstdCompressSync(Buffer.from(text)), compression: Compression.ZSTD };
  at.raw.append({ text, properties });
  await started(t, at);
  await at.sink.reached(50);
  assert.deepEqual(messages(at.sink), expectedMessages(50));
});

test("ranges sent once more are cut out, however the blocks are cut", async (t) => {
  const at = setting();
  const text = numbered(0, 100);
  const rows: [from: number, to: number][] = [
    [0, 70],
    [0, 70],
    [0, 142],
    [286, 358],
    [70, 422],
    [414, 790],
  ];
  for (const [from, to] of rows) at.raw.append({ text: text.slice(from, to), from });
  await started(t, at);
  await at.sink.reached(100);
  assert.deepEqual(new Set(messages(at.sink)), new Set(expectedMessages(100)));
  assert.equal(at.sink.documents.length, 100);
});

test("a stopped pipeline goes on where it was, without writing anything twice", async (t) => {
  const at = setting();
  const text = numbered(0, 300);
  const middle = text.indexOf("line 150\n");
  at.raw.append({ text: text.slice(0, middle) });
  const first = await started(t, at);
  await at.sink.reached(150);
  await first.stop();
  at.raw.append({ text: text.slice(middle), from: middle });
  await started(t, at);
  await at.sink.reached(300);
  assert.deepEqual(messages(at.sink), expectedMessages(300));
  assert.deepEqual(
    at.sink.writes.map(({ origin }) => origin.rawSequence),
    [1, 2],
  );
});

test("after a crash what the cursor doesn't cover is done again, and the shards drop the repetition", async (t) => {
  const at = setting();
  fill(at.raw, 400, 4, "f", 7);
  fill(at.raw, 400, 4, "g", 9);
  // The first process's cursors never arrive, as when it is killed right after its documents.
  const first = await started(t, { ...at, cursors: new MemoryBucket() });
  await at.sink.reached(300);
  await first.stop();
  const before = at.sink.writes.length;
  const done = Promise.withResolvers<void>();
  const onCursor = ({ rawPosition }: CursorEvent): void => {
    if (rawPosition.sequence === at.raw.entries.length) done.resolve();
  };
  await started(t, at, { events: { onCursor } });
  await done.promise;
  assert.ok(before > 0);
  assert.equal(at.sink.writes.length, before + at.raw.entries.length);
  assert.equal(at.sink.documents.length, 800);
  assert.equal(new Set(at.sink.documents.map(({ id }) => id)).size, 800);
});

test("a sink that fails for a while is tried again in order", async (t) => {
  const at = setting();
  fill(at.raw, 60, 2);
  let failures = 3;
  at.sink.before = () => {
    if (failures-- > 0) throw new AppError("journal_full", "the log is full");
  };
  await started(t, at, { clock: { now: Date.now, monotonic: () => performance.now(), sleep: () => turn() } });
  await at.sink.reached(60);
  assert.deepEqual(messages(at.sink), expectedMessages(60));
});

test("a sink that stands still stops the reading", async (t) => {
  const at = setting();
  fill(at.raw, 1000, 10);
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  at.sink.before = () => {
    asked.resolve();
    return gate.promise;
  };
  await started(t, at, { inFlightBytes: 1000 });
  await asked.promise;
  for (let round = 0; round < 50; round++) await turn();
  assert.ok(at.raw.taken < 20, `${at.raw.taken} messages were read`);
  gate.resolve();
  await at.sink.reached(1000);
  assert.deepEqual(messages(at.sink), expectedMessages(1000));
});

test("while the sink stands still, messages that make much more than they are don't fill the memory", async (t) => {
  const at = setting();
  const metrics = new Metrics();
  const [hostName, lines, count] = ["h".repeat(10_000), 50, 300];
  for (let block = 0; block < count; block++) {
    const text = numbered(block * lines, lines);
    at.raw.append({ text, hostName, fileKey: `f${block}`, from: 0 });
  }
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  at.sink.before = () => {
    asked.resolve();
    return gate.promise;
  };
  const inFlightBytes = MIB;
  const settings = { id: "main", workers: 1, batchSize: lines, batchDelayMs: 1 };
  await started(t, at, { metrics, inFlightBytes, settings });
  await asked.promise;
  // Messages of 3 MB, as documents 150 MB: four times what may be in flight wait, and what the batches at work make.
  const held = async (): Promise<number> =>
    Number(/^tailrace_pipeline_in_flight_bytes (\d+)$/m.exec(await metrics.text())?.[1]);
  await until("as many documents as may wait", async () => (await held()) > 4 * inFlightBytes);
  for (let round = 0; round < 50; round++) await turn();
  assert.ok((await held()) < 12 * MIB, `${await held()} bytes are in flight`);
  gate.resolve();
  await at.sink.reached(count * lines);
  assert.equal(at.sink.documents.length, count * lines);
  await until("nothing in flight", async () => (await held()) === 0);
});

test("a document that the sink refuses for good becomes a dead letter and the rest goes on", async (t) => {
  const at = setting();
  at.raw.append({ text: "[2024-01-02T00:00:00Z] good\n[2023-05-05T00:00:00Z] bad\n" });
  at.raw.append({ text: "next\n", from: 100 });
  const { sink } = at;
  const write = sink.write.bind(sink) as FoldingSink["write"];
  const refusing: PipelineOptions["sink"] = {
    write(origin, sources, documents) {
      if (documentsOf(documents, sources).some(({ index }) => index === "logs-2023.05.05")) {
        return Promise.reject(new AppError("index_closed", "the index is closed"));
      }
      return write(origin, sources, documents);
    },
  };
  await started(t, at, { sink: refusing });
  await sink.reached(3);
  assert.deepEqual(messages(sink), ["[2024-01-02T00:00:00Z] good", "next"]);
  assert.deepEqual(
    sink.letters.map(({ reason, plugin, kind }) => ({ reason, plugin, kind })),
    [{ reason: "the index is closed", plugin: "sink", kind: "event" }],
  );
});

test("a thread that is killed is replaced and its batch is done again", async (t) => {
  const at = setting();
  t.after(() => rmSync(join(tmpdir(), `tailrace-frail-worker-${process.pid}`), { force: true }));
  const text = (line: string) => `${line}\n`;
  at.raw.append({ text: text("before"), from: 0 });
  at.raw.append({ text: text("crash once"), from: 100 });
  at.raw.append({ text: text("behind"), from: 200 });
  await started(t, at, { workerScript: FRAIL_WORKER });
  await at.sink.reached(3);
  assert.deepEqual(messages(at.sink), ["before", "crash once", "behind"]);
  assert.deepEqual(at.sink.letters, []);
});

const POISON: [name: string, line: string, reason: RegExp][] = [
  ["ends its thread", "crash always", /ended|exit/],
  ["throws", "throw always", /thrown/],
  ["never returns", "hang always", /longer than 200 ms/],
];

for (const [name, line, reason] of POISON) {
  test(`a message that ${name} each time becomes a dead letter, the messages around it do not`, async (t) => {
    const at = setting();
    at.raw.append({ text: "before\n", from: 0 });
    at.raw.append({ text: `${line}\n`, from: 100 });
    at.raw.append({ text: "behind\n", from: 200 });
    await started(t, at, { workerScript: FRAIL_WORKER, workTimeoutMs: 200 });
    await at.sink.reached(3);
    assert.deepEqual(messages(at.sink), ["before", "behind"]);
    assert.equal(at.sink.letters.length, 1);
    const letter = at.sink.letters[0]!;
    assert.match(letter.reason, reason);
    assert.deepEqual([letter.kind, letter.plugin, letter.offset], ["batch", "worker", 100]);
    assert.deepEqual(letter.data, at.raw.entries[1]!.data);
  });
}

test("a message that is no LogBatch becomes a dead letter and the cursor moves on", async (t) => {
  const at = setting();
  at.raw.appendBytes(Buffer.from([0xff, 0xff, 0xff]));
  at.raw.appendBytes(Buffer.alloc(0));
  at.raw.append({ text: "good\n" });
  const pipeline = await started(t, at);
  await at.sink.reached(3);
  assert.equal(at.sink.letters.length, 2);
  await pipeline.stop();
  assert.deepEqual(pipeline.floor, { incarnation: 1, sequence: 3 });
});

test("events are offered to a listener only while it listens", async (t) => {
  const at = setting();
  const offered: string[] = [];
  const listener = {
    listening: false,
    offer: (events: readonly { source: Uint8Array }[]) => {
      for (const { source } of events) offered.push(JSON.parse(Buffer.from(source).toString()).message);
    },
  };
  let covered = Promise.withResolvers<void>();
  await started(t, at, { listener, events: { onCursor: () => covered.resolve() } });
  at.raw.append({ text: "unseen\n" });
  await covered.promise;
  covered = Promise.withResolvers();
  listener.listening = true;
  at.raw.append({ text: "seen\n", from: 7 });
  await covered.promise;
  assert.deepEqual(offered, ["seen"]);
});

test("a listener that fails doesn't stop the pipeline", async (t) => {
  const at = setting();
  const listener = {
    listening: true,
    offer: () => {
      throw new RangeError("Maximum call stack size exceeded");
    },
  };
  await started(t, at, { listener });
  at.raw.append({ text: "one\n", from: 0 });
  at.raw.append({ text: "two\n", from: 4 });
  await at.sink.reached(2);
  assert.deepEqual(messages(at.sink), ["one", "two"]);
});

test("a message that names another agent than its subject, or a pipeline, is refused and counted", async (t) => {
  const at = setting();
  const metrics = new Metrics();
  const other = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
  const input = "7c9e6679-7425-80de-844b-e07fc1f90ae7";
  at.raw.append({ text: "forged\n", from: 0, sender: other });
  at.raw.append({ text: "piped\n", from: 0, sender: other, agentId: other, pipelineId: "main" });
  at.raw.append({ text: "stolen\n", from: 0, sender: input, agentId: AGENT_ID, pipelineId: "main" });
  at.raw.append({ text: "real\n", from: 0 });
  at.raw.append({ text: "others\n", from: 0, sender: other, agentId: other });
  await started(t, at, { metrics });
  await at.sink.reached(5);
  assert.deepEqual(messages(at.sink), ["real", "others"]);
  assert.equal(at.sink.letters.length, 3);
  assert.match(await metrics.text(), /tailrace_pipeline_forged_messages_total 3\n/);
});
