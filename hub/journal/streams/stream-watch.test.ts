import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Connection, ConnectionEvent } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Incarnations, type LogHistory } from "./log-history.ts";
import type { StreamDefinition } from "./stream-definitions.ts";
import type { StreamState, StreamStore } from "./stream-store.ts";
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

/** A watch whose calls the test answers, each by its name: that of a stream, "history" or "buckets". */
async function startWatch(t: TestContext, streams: readonly string[]) {
  let change: (event: ConnectionEvent) => void = () => undefined;
  const calls = new Map<string, PromiseWithResolvers<void>>();
  let called = Promise.withResolvers<void>();
  const call = (name: string): Promise<void> => {
    const answer = Promise.withResolvers<void>();
    calls.set(name, answer);
    called.resolve();
    called = Promise.withResolvers();
    return answer.promise;
  };
  /** Resolves with the next call of this name, which is then the test's to answer. */
  const next = async (name: string): Promise<PromiseWithResolvers<void>> => {
    for (let found = calls.get(name); ; found = calls.get(name)) {
      if (found !== undefined) {
        calls.delete(name);
        return found;
      }
      await called.promise;
    }
  };
  const watch = new StreamWatch({
    connection: {
      connected: true,
      onChange(listener: typeof change) {
        change = listener;
        return () => undefined;
      },
    } as unknown as Connection,
    streams: {
      ensure: ({ name }) => call(name),
      state: (name) => Promise.resolve({ name } as StreamState),
    } as Partial<StreamStore> as StreamStore,
    history: {
      of: () => new Incarnations(),
      reconcile: () => Promise.resolve({ incarnation: 1, raised: false }),
    } as Partial<LogHistory> as LogHistory,
    definitions: streams.map((name) => ({ name }) as StreamDefinition),
    metrics: {
      reconnected: () => undefined,
      stream: () => undefined,
    } as Partial<JournalMetrics> as JournalMetrics,
    clock,
    log: silentLogger(),
    pollMs: POLL_MS,
    restoreHistory: () => call("history"),
    restoreBuckets: () => call("buckets"),
    server: { starts: 1, restoredMessages: () => undefined },
    readers: () => [],
  });
  const started = watch.start();
  for (const name of ["history", "buckets", ...streams]) (await next(name)).resolve();
  await started;
  t.after(() => watch.stop());
  return { watch, next, change: (event: ConnectionEvent) => change(event) };
}

test("who waits since a first loss is woken though the connection is lost again before the stream is verified", async (t) => {
  const { watch, next, change } = await startWatch(t, ["RAW"]);
  change("lost");
  let isWoken = false;
  const waiting = watch.ready("RAW", t.signal).then(() => (isWoken = true));
  change("restored");
  const first = await next("history");
  change("lost");
  change("restored");
  first.reject(new Error("the server hangs"));
  (await next("history")).resolve();
  (await next("buckets")).resolve();
  const verification = await next("RAW");
  assert.equal(isWoken, false, "not before the stream is verified");
  verification.resolve();
  await waiting;
  await watch.ready("RAW", t.signal);
});

test("a verified stream is read while others and the buckets wait for their leaders", async (t) => {
  const { watch, next, change } = await startWatch(t, ["RAW", "DOC", "DEAD"]);
  change("lost");
  change("restored");
  (await next("history")).resolve();
  const [buckets, dead] = [await next("buckets"), await next("DEAD")];
  (await next("RAW")).resolve();
  let isRead = false;
  const reading = watch.ready("RAW", t.signal).then(() => (isRead = true));
  const doc = await next("DOC");
  assert.equal(isRead, false, "not before it is known whether DOC has lost something");
  doc.resolve();
  await watch.ready("DOC", t.signal);
  await reading;
  buckets.resolve();
  dead.resolve();
});

test("a stream isn't read that was verified before the connection was lost again", async (t) => {
  const { watch, next, change } = await startWatch(t, ["RAW"]);
  change("lost");
  change("restored");
  (await next("history")).resolve();
  (await next("buckets")).resolve();
  const early = await next("RAW");
  change("lost");
  change("restored");
  let isWoken = false;
  const waiting = watch.ready("RAW", t.signal).then(() => (isWoken = true));
  early.resolve();
  (await next("history")).resolve();
  (await next("buckets")).resolve();
  const verification = await next("RAW");
  assert.equal(isWoken, false);
  verification.resolve();
  await waiting;
});
