import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { systemClock } from "./clock.ts";
import type { AppError } from "./errors.ts";
import { BackgroundTask, type Component, Lifecycle, withDeadline } from "./lifecycle.ts";

/** Longer than any test takes on a busy machine. */
const LONG_MS = 30_000;

/** Records its starts and stops in `events`. */
function part(
  name: string,
  events: string[],
  failure: Partial<Record<"start" | "stop", Error>> = {},
): Component {
  const note = (verb: "start" | "stop") => async (): Promise<void> => {
    events.push(`${verb} ${name}`);
    if (failure[verb] !== undefined) throw failure[verb];
  };
  return { start: note("start"), stop: note("stop") };
}

test("components start in order and stop in reverse", async () => {
  const events: string[] = [];
  const lifecycle = new Lifecycle(assert.ifError);
  await lifecycle.start("a", part("a", events));
  await lifecycle.start("b", part("b", events));
  await lifecycle.stop();
  assert.deepEqual(events, ["start a", "start b", "stop b", "stop a"]);
});

test("a failed start stops the parts that were started before it and throws its error", async () => {
  const events: string[] = [];
  const lifecycle = new Lifecycle(assert.ifError);
  await lifecycle.start("a", part("a", events));
  const failure = new Error("no port");
  await assert.rejects(lifecycle.start("b", part("b", events, { start: failure })), failure);
  assert.deepEqual(events, ["start a", "start b", "stop a"]);
});

test("a component that fails to stop is named, and the others are stopped all the same", async () => {
  const events: string[] = [];
  const told: string[] = [];
  const lifecycle = new Lifecycle((name, error) => told.push(`${name}: ${(error as Error).message}`));
  await lifecycle.start("a", part("a", events));
  await lifecycle.start("b", part("b", events, { stop: new Error("stuck") }));
  await lifecycle.stop();
  assert.deepEqual(told, ["b: stuck"]);
  assert.equal(events.at(-1), "stop a");
});

test("a component that never stops is given up at its deadline", async () => {
  const told: unknown[] = [];
  const lifecycle = new Lifecycle((_, error) => told.push((error as AppError).code));
  await lifecycle.start("a", { start: async () => {}, stop: () => new Promise(() => {}) });
  await lifecycle.stop(5);
  assert.deepEqual(told, ["timeout"]);
});

test("a repeated task runs at once, again after each pause, and ends with a stop", async () => {
  const pauses: number[] = [];
  let runs = 0;
  const task = new BackgroundTask();
  const thirdPause = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      pauses.push(ms);
      if (pauses.length < 3) return;
      thirdPause.resolve();
      await once(signal!, "abort");
    },
  };
  task.repeat(clock, 40, async () => void runs++);
  await thirdPause.promise;
  await task.stop();
  assert.deepEqual([runs, pauses], [3, [40, 40, 40]]);
});

test("components that never stop are given up at the deadline of all, each after its least time", async () => {
  const given: string[] = [];
  const lifecycle = new Lifecycle((name) => given.push(name));
  const stuck = { start: async () => {}, stop: () => new Promise<void>(() => {}) };
  const orderly = withTimeout(40);
  await lifecycle.start("server", { start: async () => {}, stop: () => orderly }, LONG_MS);
  for (const name of ["a", "b", "c"]) await lifecycle.start(name, stuck, 5);
  const startMs = performance.now();
  await lifecycle.stop(LONG_MS, 20);
  assert.deepEqual(given, ["c", "b", "a"]);
  assert.ok(performance.now() - startMs < LONG_MS);
});

test("a component that works only after the stop is stopped too", async () => {
  const events: string[] = [];
  const lifecycle = new Lifecycle(assert.ifError);
  await lifecycle.start("a", part("a", events));
  const works = Promise.withResolvers<void>();
  const slow = { ...part("b", events), start: () => works.promise };
  const starting = lifecycle.start("b", slow);
  await lifecycle.stop();
  works.resolve();
  await assert.rejects(starting, { code: "closed" });
  assert.deepEqual(events, ["start a", "stop a", "stop b"]);
});

test("a second stop waits for the first and stops nothing twice", async () => {
  const events: string[] = [];
  const lifecycle = new Lifecycle(assert.ifError);
  await lifecycle.start("a", part("a", events));
  await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  assert.deepEqual(events, ["start a", "stop a"]);
});

test("a deadline passes on a result in time, value or error", async () => {
  assert.equal(await withDeadline(Promise.resolve(7), 1_000, "seven"), 7);
  const failure = new Error("early");
  await assert.rejects(withDeadline(Promise.reject(failure), 1_000, "it"), failure);
});

test("a deadline that passes names what took too long", async () => {
  await assert.rejects(withDeadline(new Promise(() => {}), 2, "the answer"), {
    code: "timeout",
    message: "the answer took longer than 2 ms",
  });
});

/** Resolves after `ms`. */
function withTimeout(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test("a background task runs from its start until its stop, and again after another start", async () => {
  const task = new BackgroundTask();
  await task.stop();
  for (const round of [1, 2]) {
    let ended = 0;
    task.start(async (signal) => {
      await once(signal, "abort");
      ended = round;
    });
    const { signal } = task;
    assert.equal(signal.aborted, false);
    const stopped = task.stop();
    assert.equal(signal.aborted, true);
    await stopped;
    assert.equal(ended, round);
  }
});
