import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection, ConnectionEvent } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { LogHistory } from "./log-history.ts";
import type { StreamStore } from "./stream-store.ts";
import { StreamWatch } from "./stream-watch.ts";

const POLL_MS = 60_000;

/** Short waits pass at once, the poll's last until they are aborted. */
const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  sleep: (ms, signal) =>
    ms < POLL_MS
      ? Promise.resolve()
      : new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true })),
};

test("who waits since a first loss is woken though the connection is lost again before all is verified", async (t) => {
  let change: (event: ConnectionEvent) => void = () => undefined;
  const verifications: PromiseWithResolvers<void>[] = [];
  let begun = Promise.withResolvers<void>();
  const watch = new StreamWatch({
    connection: {
      connected: true,
      onChange(listener: typeof change) {
        change = listener;
        return () => undefined;
      },
    } as unknown as Connection,
    streams: {} as StreamStore,
    history: {} as LogHistory,
    definitions: [],
    metrics: { reconnected: () => undefined } as JournalMetrics,
    clock,
    log: silentLogger(),
    pollMs: POLL_MS,
    restoreBuckets: () => {
      const call = Promise.withResolvers<void>();
      verifications.push(call);
      begun.resolve();
      return call.promise;
    },
    server: { starts: 1, restoredMessages: () => undefined },
    readers: () => [],
  });
  /** Resolves with the next verification that begins. */
  const next = async (): Promise<PromiseWithResolvers<void>> => {
    await begun.promise;
    begun = Promise.withResolvers();
    return verifications.at(-1)!;
  };
  const started = watch.start();
  (await next()).resolve();
  await started;
  t.after(() => watch.stop());

  change("lost");
  let isWoken = false;
  const waiting = watch.ready(t.signal).then(() => (isWoken = true));
  change("restored");
  const first = await next();
  change("lost");
  change("restored");
  first.reject(new Error("the server hangs"));
  const second = await next();
  assert.equal(isWoken, false, "not before the streams are verified");
  second.resolve();
  await waiting;
  await watch.ready(t.signal);
});
