import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attempt, Reconnecting } from "./reconnecting.ts";

/** Hands values from one side to the other, each once. */
class Handover<T> {
  readonly #given: T[] = [];
  #wake = Promise.withResolvers<void>();

  give(value: T): void {
    this.#given.push(value);
    this.#wake.resolve();
  }

  async take(): Promise<T> {
    while (this.#given.length === 0) {
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
    return this.#given.shift()!;
  }
}

/** An input whose attempts and waits end when the test says so. */
function connecting(reason?: (error: unknown) => string) {
  const problems: (string | null)[] = [];
  const attempts = new Handover<Attempt & { readonly end: PromiseWithResolvers<void> }>();
  const waits = new Handover<() => void>();
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal?.aborted === true) resolve();
      signal?.addEventListener("abort", () => resolve());
      waits.give(resolve);
      return promise;
    },
  };
  const input = new Reconnecting({
    context: { clock, failing: (problem) => problems.push(problem) },
    read: (attempt) => {
      const end = Promise.withResolvers<void>();
      attempt.signal.addEventListener("abort", () => end.reject(new Error("closed")));
      attempts.give({ ...attempt, end });
      return end.promise;
    },
    ...(reason !== undefined && { reason }),
  });
  return { input, problems, attempts, waits };
}

test("a connection that ends is opened again, and the reason is reported until it works again", async () => {
  const { input, problems, attempts, waits } = connecting((error) => `told: ${(error as Error).message}`);
  await input.start();
  const first = await attempts.take();
  first.end.reject(new Error("gone"));
  (await waits.take())();
  const second = await attempts.take();
  assert.deepEqual([first.tries, second.tries, problems], [0, 1, ["told: gone"]]);
  second.working();
  second.end.reject(new Error("gone again"));
  (await waits.take())();
  assert.equal((await attempts.take()).tries, 1, "it had worked in between");
  assert.deepEqual(problems, ["told: gone", null, "told: gone again"]);
  await input.stop();
});

test("a connection that ends without a reason is opened again too", async () => {
  const { input, problems, attempts, waits } = connecting();
  await input.start();
  (await attempts.take()).end.resolve();
  (await waits.take())();
  await attempts.take();
  assert.deepEqual(problems, []);
  await input.stop();
});

test("a stop ends reading as well as waiting, and what that breaks isn't a failure", async () => {
  const reading = connecting();
  await reading.input.start();
  const { signal } = await reading.attempts.take();
  await reading.input.stop();
  assert.deepEqual([signal.aborted, reading.problems], [true, []]);
  const waiting = connecting();
  await waiting.input.start();
  (await waiting.attempts.take()).end.reject(new Error("gone"));
  await waiting.waits.take();
  await waiting.input.stop();
  assert.deepEqual(waiting.problems, ["gone"]);
});
