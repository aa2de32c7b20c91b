import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { AppError } from "#proto/kit/errors.ts";
import { START } from "#proto/position.ts";
import { FoldingSink } from "#test/harness/pipeline-log.ts";
import { expectedMessages, fill, messages, setting, started } from "#test/harness/running-pipeline.ts";
import type { CursorEvent, DocLosses } from "./ports.ts";

test("a partition that another hub took over stops, and its floor stays", async (t) => {
  const at = setting();
  const stopped = Promise.withResolvers<[number, string]>();
  const saved = Promise.withResolvers<void>();
  const events = {
    onCursor: () => saved.resolve(),
    onPartitionStopped: (partition: number, error: AppError) => stopped.resolve([partition, error.code]),
  };
  at.raw.append({ text: "one\n" });
  const pipeline = await started(t, at, { events });
  await saved.promise;
  const { value } = (await at.cursors.get("cursor.7"))!;
  const other = { ...(JSON.parse(Buffer.from(value).toString()) as object), owner: "other" };
  await at.cursors.put("cursor.7", Buffer.from(JSON.stringify(other)));
  at.raw.append({ text: "two\n", from: 4 });
  assert.deepEqual(await stopped.promise, [7, "journal_conflict"]);
  at.raw.append({ text: "three\n", from: 8 });
  await pipeline.stop();
  assert.equal(at.sink.documents.length, 2);
  assert.ok(pipeline.floor.sequence <= 1);
});

test("a cursor whose answer got lost is no conflict", async (t) => {
  const at = setting();
  const update = at.cursors.update.bind(at.cursors);
  let lost = 0;
  at.cursors.update = async (key, value, revision) => {
    const next = await update(key, value, revision);
    if (lost++ === 0) throw new AppError("timeout", "no answer");
    return next;
  };
  const positions: number[] = [];
  let wake = Promise.withResolvers<void>();
  const onCursor = ({ rawPosition }: CursorEvent): void => {
    positions.push(rawPosition.sequence);
    wake.resolve();
  };
  await started(t, at, { events: { onCursor } });
  for (const [sequence, text] of ["one\n", "two\n"].entries()) {
    wake = Promise.withResolvers();
    at.raw.append({ text, from: sequence * 10 });
    await wake.promise;
  }
  assert.deepEqual(positions, [1, 2]);
});

test("cursor events name the ranges that moved and the last document's position", async (t) => {
  const at = setting();
  const event = Promise.withResolvers<CursorEvent>();
  at.raw.append({ text: "one\n" });
  at.raw.append({ text: "two\n", from: 4 });
  await started(t, at, { events: { onCursor: event.resolve } });
  const { partition, rawPosition, docPosition, sources } = await event.promise;
  assert.deepEqual([partition, rawPosition.sequence, docPosition.sequence], [7, 2, 2]);
  assert.deepEqual(sources, [{ key: "0d5c1f4e-8a44-4c4e-9c7e-0f6f6b1c2d3e/f/0", from: 0, to: 8 }]);
});

/** A log of which documents were lost that were written before the incarnation `of`. */
function lossesIn(of: { incarnation: number }): DocLosses {
  return {
    get incarnation() {
      return of.incarnation;
    },
    survives: ({ docIncarnation }) => docIncarnation >= of.incarnation,
  };
}

test("a cursor of lost documents is reset, also one of a version that stored no incarnation", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const first = await started(t, at);
  await at.sink.reached(20);
  await first.stop();
  const { value } = (await at.cursors.get("cursor.7"))!;
  const { docIncarnation, ...older } = JSON.parse(Buffer.from(value).toString()) as Record<string, unknown>;
  assert.equal(docIncarnation, 1);
  await at.cursors.put("cursor.7", Buffer.from(JSON.stringify(older)));
  const again = new FoldingSink();
  await started(t, { ...at, sink: again }, { losses: lossesIn({ incarnation: 2 }) });
  await again.reached(20);
  assert.deepEqual(messages(again), expectedMessages(20));
});

test("a log that is lost while the pipeline runs has it compare its cursors, and keep RAW until then", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const doc = { incarnation: 1 };
  const pipeline = await started(t, at, { losses: lossesIn(doc) });
  await at.sink.reached(20);
  const { length } = at.sink.writes;
  doc.incarnation = 2;
  assert.deepEqual(pipeline.floor, START);
  await pipeline.resume();
  while (at.sink.writes.length < 2 * length) await setImmediate();
  assert.deepEqual(messages(at.sink), expectedMessages(20));
});

test("a cursor that another hub stores while it is compared is compared as it is then", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const first = await started(t, at);
  await at.sink.reached(20);
  await first.stop();
  const update = at.cursors.update.bind(at.cursors);
  at.cursors.update = async (key, value, revision) => {
    at.cursors.update = update;
    const entry = (await at.cursors.get(key))!;
    const newer = JSON.parse(Buffer.from(entry.value).toString()) as object;
    await at.cursors.put(key, Buffer.from(JSON.stringify({ ...newer, owner: "other", docIncarnation: 2 })));
    return update(key, value, revision);
  };
  const { length } = at.sink.writes;
  await started(t, at, { losses: lossesIn({ incarnation: 2 }) });
  at.raw.append({ text: "the end\n", from: 1_000 });
  await at.sink.reached(21);
  assert.equal(at.sink.writes.length, length + 1, "the other hub's cursor needs no reset");
});

test("threads that can't start after a loss are started later; meanwhile RAW is kept, and the reason shown", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const doc = { incarnation: 1 };
  const folder = await mkdtemp(join(tmpdir(), "worker-"));
  t.after(() => rm(folder, { recursive: true }));
  const script = join(folder, "worker.ts");
  const real = new URL("./worker.ts", import.meta.url).href;
  await writeFile(script, `import ${JSON.stringify(real)};`);
  const pipeline = await started(t, at, { losses: lossesIn(doc), workerScript: pathToFileURL(script) });
  await at.sink.reached(20);
  await rm(script);
  doc.incarnation = 2;
  const resumed = pipeline.resume();
  while (pipeline.status().problem === "") await setImmediate();
  assert.match(pipeline.status().problem, /stand still/);
  assert.deepEqual(pipeline.floor, START);
  await writeFile(script, `import ${JSON.stringify(real)};`);
  await resumed;
  assert.equal(pipeline.status().problem, "");
});

test("a pipeline that takes partitions over knows the last documents of them", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const first = await started(t, at);
  await at.sink.reached(20);
  await first.stop();
  const second = await started(t, at, { hub: "hub-2" });
  assert.ok(first.written.sequence > 0);
  assert.deepEqual(second.written, first.written);
});

test("a hub whose membership lapsed before it had partitions processes those that it gets then", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const pipeline = await started(t, at, { sharing: { mayWrite: () => true } });
  pipeline.abandon();
  await pipeline.assign(new Set([7]));
  await at.sink.reached(20);
  assert.deepEqual(messages(at.sink), expectedMessages(20));
});

test("other partitions are processed by the same threads", async (t) => {
  const at = setting();
  const channel = new BroadcastChannel("threads of the test");
  t.after(() => channel.close());
  let threads = 0;
  channel.onmessage = () => threads++;
  const script = `new BroadcastChannel("threads of the test").postMessage("begins");
    await import(${JSON.stringify(new URL("./worker.ts", import.meta.url).href)});`;
  const workerScript = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  fill(at.raw, 20, 20, "f", 7);
  fill(at.raw, 20, 20, "g", 8);
  const pipeline = await started(t, at, { sharing: { mayWrite: () => true }, workerScript });
  await pipeline.assign(new Set([7]));
  await at.sink.reached(20);
  await pipeline.assign(new Set([7, 8]));
  await at.sink.reached(40);
  await pipeline.assign(new Set([8]));
  fill(at.raw, 40, 20, "h", 8);
  await at.sink.reached(80);
  assert.equal(threads, 1);
});

test("a loss is taken into account once, by whichever session loads a partition first", async (t) => {
  const at = setting();
  fill(at.raw, 20, 2);
  const first = await started(t, at);
  await at.sink.reached(20);
  await first.stop();
  const again = new FoldingSink();
  const options = { losses: lossesIn({ incarnation: 2 }), sharing: { mayWrite: () => true } };
  const pipeline = await started(t, { ...at, sink: again }, options);
  pipeline.abandon();
  await pipeline.reload([]);
  await pipeline.assign(new Set([7]));
  await again.reached(20);
  await pipeline.assign(new Set());
  await pipeline.assign(new Set([7]));
  at.raw.append({ text: "the end\n", from: 1_000 });
  await again.reached(21);
  assert.deepEqual(messages(again), [...expectedMessages(20), "the end"]);
  assert.equal(again.writes.length, 11);
});
