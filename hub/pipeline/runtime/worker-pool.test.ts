import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkerSettings, WorkItem } from "#hub/pipeline/batch/worker-protocol.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { until } from "#test/harness/until.ts";
import { WorkerPool } from "./worker-pool.ts";

/** A thread that counts itself, and holds each task until it is told to go on. */
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

test("threads beyond the first start when there is work for them, and end when there was none for long", async (t) => {
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

  const first = run();
  const others = [run(), run()];
  await until("there is a thread for each task", () => pool.threads === 3);
  Atomics.store(words, goesOn, 1);
  Atomics.notify(words, goesOn);
  await Promise.all([first, ...others]);

  await until("one thread is left", () => pool.threads === 1);
  await run();
  assert.equal(words[started], 3, "it takes a single task alone");
  await Promise.all([run(), run()]);
  await until("another one starts", () => words[started]! > 3);
});
