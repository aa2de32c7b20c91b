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

/** Messages of each stream at the start of the server. */
const RESTORED = 10;
const AT_START = { seen: 0, restored: RESTORED };

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
  const reconciled: { readonly seen: number; readonly restored: number | undefined }[] = [];
  let isLost = false;
  const server = { starts: 1, restoredMessages: () => RESTORED };
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
      reconcile: (_, remembered, restored) => {
        reconciled.push({ seen: remembered[0]?.sequence ?? 0, restored });
        return Promise.resolve({ incarnation: 1, raised: isLost });
      },
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
    server,
    readers: () => [],
  });
  const started = watch.start();
  for (const name of ["history", "buckets", ...streams]) (await next(name)).resolve();
  await started;
  t.after(() => watch.stop());
  return {
    watch,
    next,
    change: (event: ConnectionEvent) => change(event),
    /** What streams were compared with since the last call. */
    reconciled: () => reconciled.splice(0),
    restart: () => server.starts++,
    /** Whether streams have lost messages. */
    lose: (lost: boolean) => (isLost = lost),
  };
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

test("a stream is compared with what the server had at its start only until it is verified", async (t) => {
  const { watch, next, change, reconciled, restart } = await startWatch(t, ["RAW", "DEAD"]);
  assert.deepEqual(reconciled(), [AT_START, AT_START]);
  change("lost");
  restart();
  change("restored");
  for (const name of ["history", "buckets", "RAW"]) (await next(name)).resolve();
  await watch.ready("RAW", t.signal);
  assert.deepEqual(reconciled(), [AT_START]);
  watch.noteSequence("RAW", RESTORED + 1);
  change("lost");
  change("restored");
  (await next("DEAD")).reject(new Error("no leader"));
  for (const name of ["history", "buckets", "RAW"]) (await next(name)).resolve();
  await watch.ready("RAW", t.signal);
  assert.deepEqual(reconciled(), [{ seen: RESTORED + 1, restored: undefined }]);
});

test("a stream that has lost messages is found so once, though others are verified later", async (t) => {
  const { watch, next, change, reconciled, lose } = await startWatch(t, ["RAW", "DOC"]);
  watch.noteSequence("RAW", 7);
  reconciled();
  change("lost");
  lose(true);
  change("restored");
  for (const name of ["history", "buckets", "RAW"]) (await next(name)).resolve();
  (await next("DOC")).reject(new Error("no leader"));
  (await next("history")).resolve();
  lose(false);
  for (const name of ["buckets", "RAW", "DOC"]) (await next(name)).resolve();
  await watch.ready("RAW", t.signal);
  assert.deepEqual(
    reconciled().map(({ seen }) => seen),
    [7, 0, 0],
  );
});
