import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { printOutcome, printTask, Tasks, type TaskWork } from "./tasks.ts";

/** Work that ends when it is cancelled, or at once. */
function work(
  waits: boolean,
  outcome: () => Record<string, unknown> = () => ({ done: true }),
  owner = "user test",
): TaskWork {
  return {
    owner,
    action: "indices:data/write/reindex",
    description: "reindex",
    status: () => ({ total: 1 }),
    async run(signal) {
      if (waits) {
        const { promise, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => reject(signal.reason as Error));
        return await promise;
      }
      return outcome();
    },
  };
}

test("a task that has ended keeps its answer, and is listed no more", async () => {
  const tasks = new Tasks(systemClock);
  const task = tasks.start(work(false));
  assert.equal(tasks.running().length, 1);
  await task.ended;
  assert.equal(tasks.running().length, 0);
  assert.deepEqual(printOutcome(tasks.get(task.id)!), { response: { done: true } });
  assert.equal(printTask(task, "node")["action"], "indices:data/write/reindex");
});

test("searches don't keep other tasks from beginning, and leave nothing behind", async () => {
  const tasks = new Tasks(systemClock);
  const search = { ...work(true), isSearch: true } as const;
  for (let count = 0; count < 20; count++) tasks.start(search);
  assert.throws(() => tasks.start(search), { code: "overloaded" });
  const task = tasks.start(work(false));
  await task.ended;
  assert.equal(tasks.get(task.id), task);
  const [first] = tasks.running();
  await tasks.stop();
  assert.equal(tasks.get(first!.id), undefined);
});

test("numbers of tasks don't begin anew with a start, as results of earlier ones are kept", async () => {
  const first = [new Tasks(systemClock), new Tasks(systemClock)].map((tasks) => tasks.start(work(false)).id);
  assert.notEqual(first[0], first[1]);
  assert.match(String(first[0]), /^\d{1,15}$/);
});

test("a task has ended when its outcome is stored", async () => {
  const tasks = new Tasks(systemClock);
  const stored: unknown[] = [];
  const task = tasks.start({
    ...work(false),
    store: async (done) => {
      await Promise.resolve();
      stored.push(printOutcome(done));
    },
  });
  await task.ended;
  assert.deepEqual(stored, [{ response: { done: true } }]);
});

test("a failed task has the reason", async () => {
  const tasks = new Tasks(systemClock);
  const task = tasks.start(
    work(false, () => {
      throw new AppError("index_missing", "no such index", { data: { index: "x" } });
    }),
  );
  await task.ended;
  const { error } = printOutcome(task) as { error: { type: string } };
  assert.equal(error.type, "index_not_found_exception");
});

test("a cancelled task ends, and stop waits for all", async () => {
  const tasks = new Tasks(systemClock);
  const [first, second] = [tasks.start(work(true)), tasks.start(work(true))];
  assert.ok(tasks.cancel(first.id));
  await first.ended;
  assert.equal(first.error?.code, "cancelled");
  await tasks.stop();
  assert.equal(second.error?.code, "cancelled");
  assert.equal(tasks.cancel(first.id), false);
});

test("too many tasks at a time are refused", async () => {
  const tasks = new Tasks(systemClock);
  for (let each = 0; each < 40; each++) tasks.start(work(true, undefined, `user ${each}`));
  assert.throws(() => tasks.start(work(true, undefined, "user ann")), { code: "overloaded" });
  await tasks.stop();
});

test("one owner's tasks don't keep those of others from beginning", async () => {
  const tasks = new Tasks(systemClock);
  for (let each = 0; each < 20; each++) tasks.start(work(true));
  assert.throws(() => tasks.start(work(true)), /20 tasks run for you, of 40 for all users/);
  const other = tasks.start(work(false, undefined, "user ann"));
  await other.ended;
  assert.deepEqual(other.response, { done: true });
  await tasks.stop();
  assert.equal(tasks.refused, 1);
});
