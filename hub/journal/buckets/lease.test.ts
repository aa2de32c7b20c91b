import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { acquireLease, type HeldLease } from "./lease.ts";

const DURATION_MS = 1_000;

/** Time that a test moves by hand. */
class ManualClock implements Clock {
  #now = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      this.#sleepers.push({ at: this.#now + ms, wake: resolve });
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Moves in small steps, letting everybody act in each. */
  async advance(ms: number): Promise<void> {
    for (const end = this.#now + ms; this.#now < end; ) {
      await settle();
      this.#now += 10;
      const due = this.#sleepers.filter(({ at }) => at <= this.#now);
      this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
      for (const { wake } of due) wake();
    }
    await settle();
  }
}

/** Lets all that waits for nothing but others' promises run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

/** A bucket that can't be reached while `away`. */
class FailingBucket extends MemoryBucket {
  away = false;
  /** What changes wait for. */
  stuck: Promise<void> | undefined;
  updates = 0;

  override async update(key: string, value: Uint8Array, revision: number): Promise<number> {
    if (this.away) throw new AppError("unavailable", "away");
    this.updates++;
    await this.stuck;
    return super.update(key, value, revision);
  }
}

function contend(
  bucket: MemoryBucket,
  owner: string,
  clock: Clock,
  signal = new AbortController().signal,
): Promise<HeldLease> {
  return acquireLease(
    { bucket, key: "lease.x", owner, durationMs: DURATION_MS, clock, log: silentLogger() },
    signal,
  );
}

/** Records when the lease is acquired. */
function watched(promise: Promise<HeldLease>): { held: HeldLease | undefined } {
  const state: { held: HeldLease | undefined } = { held: undefined };
  void promise.then((held) => {
    state.held = held;
  });
  return state;
}

function heldBy({ held }: { held: HeldLease | undefined }): HeldLease {
  assert.ok(held !== undefined, "the lease was acquired");
  return held;
}

describe("a lease", () => {
  test("a free lease is taken immediately, by one of several", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    const all = ["a", "b", "c"].map((owner) => watched(contend(bucket, owner, clock)));
    await settle();
    assert.equal(all.filter(({ held }) => held !== undefined).length, 1);
    assert.equal(all.find(({ held }) => held !== undefined)!.held!.epoch, 1);
  });

  test("is kept as long as it is renewed", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    const first = await contend(bucket, "a", clock);
    const second = watched(contend(bucket, "b", clock));
    await clock.advance(20 * DURATION_MS);
    assert.equal(first.lost.aborted, false);
    assert.equal(second.held, undefined);
    await first.release();
  });

  test("whose key was lost is taken once its holder must have stopped, with a higher epoch", async () => {
    const bucket = new MemoryBucket();
    const clock = new ManualClock();
    const first = await contend(bucket, "a", clock);
    const waiting = watched(contend(bucket, "b", clock));
    await clock.advance(100);
    bucket.lose();
    while (!first.lost.aborted) {
      assert.equal(waiting.held, undefined, "two would hold it");
      await clock.advance(10);
    }
    await clock.advance(2 * DURATION_MS);
    assert.equal(waiting.held?.epoch, first.epoch + 1);
  });

  test("a holder that can't renew stops before another one begins, with a higher epoch", async () => {
    const clock = new ManualClock();
    const bucket = new FailingBucket();
    const first = await contend(bucket, "a", clock);
    let lostAt = Number.POSITIVE_INFINITY;
    first.lost.addEventListener("abort", () => {
      lostAt = clock.now();
    });
    await clock.advance(500);
    const contender = new MemoryBucketView(bucket);
    const second = watched(contend(contender, "b", clock));
    bucket.away = true;
    await clock.advance(DURATION_MS);
    assert.ok(lostAt <= clock.now());
    assert.equal(second.held, undefined);
    await clock.advance(DURATION_MS);
    const next = heldBy(second);
    assert.equal(next.epoch, 2);
    await next.release();
  });

  test("a renewal that took long is followed by another at once, as it counts from its beginning", async () => {
    const clock = new ManualClock();
    const bucket = new FailingBucket();
    const held = await contend(bucket, "a", clock);
    const { promise, resolve } = Promise.withResolvers<void>();
    bucket.stuck = promise;
    await clock.advance(0.9 * DURATION_MS);
    assert.equal(bucket.updates, 1);
    resolve();
    await clock.advance(20);
    assert.equal(bucket.updates, 2);
    await clock.advance(0.2 * DURATION_MS);
    assert.equal(bucket.updates, 2);
    await held.release();
  });

  test("one that was given up is taken without a wait", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    const first = await contend(bucket, "a", clock);
    const second = watched(contend(bucket, "b", clock));
    await settle();
    await first.release();
    await first.release();
    assert.equal(first.lost.aborted, true);
    await clock.advance(DURATION_MS / 4);
    assert.equal(second.held?.epoch, 2);
    await second.held?.release();
  });

  test("one of a process that is known to be dead is taken without a wait", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    await contend(bucket, "node/before", clock);
    const given = { bucket, key: "lease.x", durationMs: DURATION_MS, clock, log: silentLogger() };
    const isDead = (owner: string): boolean => owner === "node/before";
    const held = await acquireLease({ ...given, owner: "node/now", isDead }, new AbortController().signal);
    assert.equal(held.epoch, 2);
    await held.release();
  });

  test("a holder whose key was taken over learns it at the next renewal", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    const first = await contend(bucket, "a", clock);
    await bucket.put(
      "lease.x",
      Buffer.from(JSON.stringify({ owner: "b", epoch: 9, durationMs: DURATION_MS })),
    );
    await clock.advance(DURATION_MS / 2);
    assert.equal(first.lost.aborted, true);
  });

  test("a renewal that was stored without an answer doesn't cost the lease", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    const first = await contend(bucket, "a", clock);
    await bucket.put("lease.x", (await bucket.get("lease.x"))!.value); // as the lost answer's renewal would have
    await clock.advance(5 * DURATION_MS);
    assert.equal(first.lost.aborted, false);
    await first.release();
  });

  test("waiting for it ends when it is aborted", async () => {
    const clock = new ManualClock();
    const bucket = new MemoryBucket();
    const first = await contend(bucket, "a", clock);
    const stop = new AbortController();
    const waiting = contend(bucket, "b", clock, stop.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    await first.release();
  });
});

/** The same entries seen by a contender that reaches the store. */
class MemoryBucketView extends MemoryBucket {
  readonly #inner: MemoryBucket;

  constructor(inner: MemoryBucket) {
    super();
    this.#inner = inner;
  }

  override get(key: string) {
    return this.#inner.get(key);
  }

  override update(key: string, value: Uint8Array, revision: number): Promise<number> {
    return MemoryBucket.prototype.update.call(this.#inner, key, value, revision);
  }
}

test("a lease whose time is over isn't valid, even before its holder notices", async () => {
  class PausedClock extends ManualClock {
    stoodStillMs = 0;
    override monotonic(): number {
      return super.monotonic() + this.stoodStillMs;
    }
  }
  const clock = new PausedClock();
  const lease = await contend(new MemoryBucket(), "a", clock);
  assert.equal(lease.isValid, true);
  clock.stoodStillMs = DURATION_MS;
  assert.deepEqual([lease.isValid, lease.lost.aborted], [false, false]);
  clock.stoodStillMs = 0;
  await lease.release();
  assert.equal(lease.isValid, false);
});
