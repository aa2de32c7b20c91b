import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { WorkerSettings, WorkItem } from "#hub/pipeline/batch/worker-protocol.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { until } from "#test/harness/until.ts";
import { WorkerPool } from "./worker-pool.ts";

/** A thread that counts itself, and holds each task until it is told to continue. */
const SCRIPT = `
  import { parentPort, workerData } from "node:worker_threads";
  const words = new Int32Array(workerData);
  Atomics.add(words, 0, 1);
  parentPort.on("message", ({ id, items }) => {
    Atomics.wait(words, 1, 0);
    parentPort.postMessage({ id, results: items.map(() => ({ failure: { reason: "none", retryable: false } })) });
  });
  parentPort.postMessage({ id: 0, results: [] });
`;

/** Starts a pool whose tasks end once `goOn` is called. */
async function opened(t: TestContext) {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const [started, goesOn] = [0, 1];
  const restarts = new Metrics().counter("tailrace_test_restarts_total", "none is expected");
  const pool = new WorkerPool({
    workers: 3,
    script: new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`),
    settings: words.buffer as unknown as WorkerSettings,
    timeoutMs: 60_000,
    idleMs: 100,
    log: silentLogger(),
    restarts,
    clock: systemClock,
  });
  await pool.start();
  t.after(() => pool.stop());
  const item: WorkItem = { data: new Uint8Array(1), ranges: [], sequence: 1 };
  const run = (): Promise<unknown> => pool.run([item]);
  const goOn = (): void => {
    Atomics.store(words, goesOn, 1);
    Atomics.notify(words, goesOn);
  };
  return {
    pool,
    run,
    started: () => words[started]!,
    hold: () => Atomics.store(words, goesOn, 0),
    goOn,
    /** Does more tasks than two threads take. */
    burst: async () => {
      const tasks = Array.from({ length: 5 }, run);
      await until("all threads have work", () => pool.threads === 3);
      goOn();
      await Promise.all(tasks);
    },
  };
}

test("threads beyond the first start when there is work for them, and end when there was none for long", async (t) => {
  const { pool, run, started, burst } = await opened(t);
  await burst();
  await until("one thread is left", () => pool.threads === 1);
  await run();
  assert.equal(started(), 3, "it takes a single task alone");
  await Promise.all([run(), run()]);
  await until("another one starts", () => started() > 3);
});

test("threads of a burst end although single tasks follow", async (t) => {
  const { pool, run, burst } = await opened(t);
  await burst();
  const onlyOneIsLeft = async (): Promise<boolean> => {
    await run();
    return pool.threads === 1;
  };
  await until("one thread is left", onlyOneIsLeft, { everyMs: 10, deadlineMs: 10_000 });
});

test("threads of a burst end while one is at work, which is left", async (t) => {
  const { pool, run, burst, hold, goOn } = await opened(t);
  await burst();
  hold();
  const task = run();
  await until("one thread is left", () => pool.threads === 1, { deadlineMs: 10_000 });
  goOn();
  await task;
});

test("a pool that is cleared rejects its tasks, and takes others with the threads that had none", async (t) => {
  const { pool, run, started, burst, goOn, hold } = await opened(t);
  await burst();
  hold();
  const before = started();
  const given = run();
  const rejected = assert.rejects(given, /gives its work up/);
  pool.clear();
  await rejected;
  goOn();
  await run();
  assert.equal(started(), before, "no thread was started");
});

test("a pool that is cleared while all threads are at work starts another one", async (t) => {
  const { pool, run, started, goOn } = await opened(t);
  const rejected = assert.rejects(run(), /gives its work up/);
  pool.clear();
  await rejected;
  goOn();
  await run();
  assert.ok(started() > 1);
});
