import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { OutputRecord, OutputWriter } from "../outputs/output.ts";
import { OutputQueue } from "./output-queue.ts";

function record(text: string): OutputRecord {
  return { id: text, sourceKey: "s", place: 0, timeMs: 0, target: "", body: Buffer.from(text) };
}

function queueOver(write: OutputWriter["write"], signal = new AbortController().signal) {
  const counts = { delivered: 0, retried: 0 };
  const queue = new OutputQueue({
    id: "o",
    writer: { write, stop: () => Promise.resolve() },
    clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
    log: silentLogger(),
    signal,
    delivered: (records) => {
      counts.delivered += records;
    },
    retried: () => {
      counts.retried++;
    },
  });
  return { queue, counts };
}

test("records of several messages go together, one write at a time, in their order", async () => {
  const writes: string[][] = [];
  const gate = Promise.withResolvers<undefined>();
  const { queue } = queueOver((records) => {
    writes.push(records.map(({ id }) => id));
    return gate.promise;
  });
  const all = [
    queue.write([record("a")]),
    queue.write([record("b"), record("c")]),
    queue.write([record("d")]),
  ];
  gate.resolve(undefined);
  assert.deepEqual(await Promise.all(all), [[], [], []]);
  assert.deepEqual(writes, [["a"], ["b", "c", "d"]]);
});

test("what may pass is tried again with the rest, what never will is refused with its reason", async () => {
  const tries: string[][] = [];
  const { queue, counts } = queueOver(async (records) => {
    tries.push(records.map(({ id }) => id));
    if (tries.length === 1) throw new AppError("unavailable", "away");
    if (tries.length === 2) return { again: [0], refused: [{ place: 1, reason: "too odd" }] };
    return undefined;
  });
  const refused = await queue.write([record("a"), record("b"), record("c")]);
  assert.deepEqual(refused, [{ place: 1, reason: "too odd" }]);
  assert.deepEqual(tries, [["a", "b", "c"], ["a", "b", "c"], ["a"]]);
  assert.deepEqual(counts, { delivered: 2, retried: 2 });
  assert.equal(queue.failure, undefined);
});

test("a blocked writer is let go of at the stop", async () => {
  const stopping = new AbortController();
  const { queue } = queueOver(
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new AppError("cancelled", "stopped")));
      }),
    stopping.signal,
  );
  const written = assert.rejects(queue.write([record("a")]), { code: "cancelled" });
  const waiting = assert.rejects(queue.write([record("b")]), { code: "cancelled" });
  stopping.abort();
  await Promise.all([written, waiting]);
  await queue.stop();
});
