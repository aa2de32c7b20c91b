import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutputRecord, OutputWriter, WriteRest } from "#hub/pipeline/plugins/output.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { OutputQueue } from "./output-queue.ts";

function record(text: string): OutputRecord {
  return { id: text, sourceKey: "s", place: 0, timeMs: 0, target: "", body: Buffer.from(text) };
}

/** Longer than a queue ever waits for a further try. */
const PATIENCE_MS = 60_000;

/** Time stands still; waits for a further try are over at once, who is patient is woken by the signal only. */
const STILL: Clock = {
  now: () => 0,
  monotonic: () => 0,
  sleep: (ms, signal) =>
    ms < PATIENCE_MS
      ? Promise.resolve()
      : new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
};

function queueOver(write: OutputWriter["write"], signal = new AbortController().signal) {
  const counts = { delivered: 0, retried: 0 };
  const queue = new OutputQueue({
    id: "o",
    writer: { write, stop: () => Promise.resolve() },
    clock: STILL,
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

test("a temporary failure is retried with the rest, a permanent one is refused with its reason", async () => {
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

test("a blocked writer is released at the stop", async () => {
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

interface OpenWrite {
  readonly ids: readonly string[];
  readonly end: (rest?: WriteRest) => void;
}

/** A queue over a writer whose writes end when the test says so; `next` resolves with each as it begins. */
function slowQueue() {
  const stopping = new AbortController();
  const begun: OpenWrite[] = [];
  let told = Promise.withResolvers<void>();
  const write: OutputWriter["write"] = (records, signal) =>
    new Promise((resolve, reject) => {
      begun.push({ ids: records.map(({ id }) => id), end: resolve });
      signal.addEventListener("abort", () => reject(new AppError("cancelled", "stopped")));
      told.resolve();
    });
  const next = async (): Promise<OpenWrite> => {
    while (begun.length === 0) await told.promise;
    told = Promise.withResolvers();
    return begun.shift()!;
  };
  return { next, stopping, ...queueOver(write, stopping.signal) };
}

test("who settles gets the write under way to its end, and gives back what none has begun with", async () => {
  const { queue, next } = slowQueue();
  const written = queue.write([record("a")]);
  const waiting = assert.rejects(queue.write([record("b")]), { code: "cancelled" });
  const settled = queue.settle(PATIENCE_MS);
  await waiting;
  await assert.rejects(queue.write([record("c")]), { code: "cancelled" });
  (await next()).end();
  assert.deepEqual(await written, []);
  await settled;
});

test("records that were handed over together are written to the end, in further tries and writes", async () => {
  const { queue, next } = slowQueue();
  const written = queue.write(Array.from({ length: 2_050 }, (_, n) => record(String(n))));
  const first = await next();
  const settled = queue.settle(PATIENCE_MS);
  first.end({ again: [7] });
  const again = await next();
  again.end();
  const rest = await next();
  rest.end();
  assert.deepEqual(await written, []);
  await settled;
  assert.deepEqual([first.ids.length, again.ids, rest.ids], [2_048, ["7"], ["2048", "2049"]]);
});

test("a write that failed as a whole isn't tried again by who settles", async () => {
  let tries = 0;
  const { queue } = queueOver(() => {
    tries++;
    return Promise.reject(new AppError("unavailable", "away"));
  });
  const written = assert.rejects(queue.write([record("a")]), { code: "cancelled" });
  await queue.settle(PATIENCE_MS);
  await written;
  assert.equal(tries, 1);
});

test("who settles doesn't wait for a write that is blocked", async () => {
  const { queue, stopping } = slowQueue();
  const written = assert.rejects(queue.write([record("a")]), { code: "cancelled" });
  await queue.settle(0);
  stopping.abort();
  await Promise.all([written, queue.stop()]);
});
