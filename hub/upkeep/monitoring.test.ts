import assert from "node:assert/strict";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { test } from "node:test";
import type { WriteItem } from "#hub/cluster/writes/writes.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { Monitoring } from "./monitoring.ts";

/** A hub's record whose documents are kept in `written`. */
function recordOf(isWanted: () => boolean) {
  const metrics = new Metrics();
  const written: WriteItem[] = [];
  const monitoring = new Monitoring({
    intervalMs: 1_000,
    documents: {
      write: (items) => {
        written.push(...items);
        return Promise.resolve([]);
      },
    },
    dashboard: "hub-health",
    saved: {
      get: () =>
        isWanted() ? Promise.resolve({}) : Promise.reject(new AppError("not_found", "no such dashboard")),
    },
    agents: () => [
      { health: "ok", lagBytes: 5 },
      { health: "lost", lagBytes: 7 },
    ],
    node: "hub-1",
    clock: { now: () => Date.UTC(2026, 0, 31, 23) } as Clock,
    log: silentLogger(),
    metrics,
  });
  return { metrics, written, monitoring };
}

const { signal } = new AbortController();

test("a document has the current gauges, and the growth of counters since the previous one", async () => {
  const { metrics, written, monitoring } = recordOf(() => true);
  const events = metrics.counter("tailrace_pipeline_events_total", "events");
  const lag = metrics.gauge("tailrace_journal_lag_messages", "lag", ["stream"]);
  events.inc(40);
  lag.set({ stream: "RAW" }, 3);
  lag.set({ stream: "DOC" }, 4);
  await monitoring.record(signal);
  events.inc(2);
  await monitoring.record(signal);
  const recorded = written.map((item) => {
    assert.equal(item.index, ".tailrace-metrics-2026.01.31");
    return JSON.parse(Buffer.from(("source" in item ? item.source : undefined)!).toString()) as {
      "@timestamp": string;
      node: { name: string };
      hub: Record<string, number>;
    };
  });
  assert.deepEqual(
    recorded.map(({ hub }) => [hub["events"], hub["raw_waiting"], hub["documents_waiting"]]),
    [
      [0, 3, 4],
      [2, 3, 4],
    ],
  );
  const [{ hub, node, "@timestamp": at }] = recorded as [(typeof recorded)[0]];
  assert.deepEqual([at, node.name], ["2026-01-31T23:00:00.000Z", "hub-1"]);
  assert.deepEqual([hub["agents"], hub["agents_in_trouble"], hub["agents_behind_bytes"]], [2, 1, 12]);
  assert.ok(hub["heap_bytes"]! > 0 && hub["memory_bytes"]! > hub["heap_bytes"]!);
  assert.ok(Object.values(hub).every(Number.isInteger), "an index takes the type of the first value");
});

test("the event loop's delay is sampled only while the dashboard is there", async (t) => {
  const histogram = Object.getPrototypeOf(monitorEventLoopDelay()) as IntervalHistogram;
  const [enable, disable] = [t.mock.method(histogram, "enable"), t.mock.method(histogram, "disable")];
  let isWanted = false;
  const { monitoring } = recordOf(() => isWanted);
  await monitoring.record(signal);
  assert.equal(enable.mock.callCount(), 0);
  isWanted = true;
  await monitoring.record(signal);
  assert.equal(enable.mock.callCount(), 1);
  disable.mock.resetCalls();
  isWanted = false;
  await monitoring.record(signal);
  assert.equal(disable.mock.callCount(), 1);
});

test("nothing is recorded where the dashboard isn't there", async () => {
  let isWanted = false;
  const { written, monitoring } = recordOf(() => isWanted);
  await monitoring.record(signal);
  assert.equal(written.length, 0);
  isWanted = true;
  await monitoring.record(signal);
  assert.equal(written.length, 1);
});
