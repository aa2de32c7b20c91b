import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { parseRetentionRule, type RetainedIndex, Retention } from "./retention.ts";

const NOW_MS = 100 * DAY_MS;

const clock: Clock = { now: () => NOW_MS, monotonic: () => 0, sleep: () => Promise.resolve() };

/** An index whose last document came so many days ago. */
function index(name: string, ageDays: number, sizeBytes = 10): RetainedIndex {
  return { name, uuid: `${name}-uuid`, lastMs: NOW_MS - ageDays * DAY_MS, sizeBytes };
}

async function sweep(
  rules: readonly string[],
  indices: readonly RetainedIndex[],
  held: readonly string[] = [],
): Promise<{ readonly removed: string[]; readonly metrics: string }> {
  const removed: string[] = [];
  const metrics = new Metrics();
  const retention = new Retention({
    rules: () => Promise.resolve(rules.map(parseRetentionRule)),
    indices: async () => indices,
    remove: ({ name }) => {
      if (held.includes(name)) return Promise.reject(new Error("held"));
      removed.push(name);
      return Promise.resolve();
    },
    clock,
    log: silentLogger(),
    metrics,
  });
  await retention.sweep();
  return { removed, metrics: await metrics.text() };
}

const LOGS = [index("logs-3", 1), index("logs-1", 40), index("logs-2", 20), index("other", 90)];

for (const [what, rules, expected] of [
  ["by age, of its pattern alone", ["logs-* 30d"], ["logs-1"]],
  ["the oldest until the rest fits", ["logs-* 25b"], ["logs-1"]],
  ["by age first, then by size", ["logs-* 30d 15b"], ["logs-1", "logs-2"]],
  ["never the newest for its size", ["logs-* 1b"], ["logs-1", "logs-2"]],
  ["by the first rule that fits", ["logs-1 400d", "* 30d"], ["other"]],
  ["a dot of a pattern is a dot", ["log.* 1d"], []],
  ["nothing without rules", [], []],
] as const) {
  test(`indices are deleted ${what}`, async () => {
    assert.deepEqual((await sweep(rules, LOGS)).removed, expected);
  });
}

test("what can't be deleted stays counted and doesn't keep others", async () => {
  const { removed, metrics } = await sweep(["logs-* 12b"], LOGS, ["logs-1"]);
  assert.deepEqual(removed, ["logs-2"]);
  assert.match(metrics, /tailrace_retention_excess_bytes\{pattern="logs-\*"\} 8/);
  assert.match(metrics, /tailrace_retention_indices_deleted_total\{reason="size"\} 1/);
  assert.match(metrics, /tailrace_retention_bytes_deleted_total 10/);
});

test("a refused rule names what it lacks", () => {
  for (const text of ["", "logs-*", "logs-* 1d 2d", "logs-* 1gb 2gb", "logs-* soon"]) {
    assert.throws(
      () => parseRetentionRule(text),
      { code: "settings_invalid", message: /^retention\.rules: "/ },
      text,
    );
  }
  assert.deepEqual(parseRetentionRule("logs-* 50GB 30d"), {
    pattern: "logs-*",
    maxAgeMs: 30 * DAY_MS,
    maxBytes: 50 * 2 ** 30,
  });
});

test("retention that was stopped applies its rules again after another start", async () => {
  const removed: string[] = [];
  let found: RetainedIndex[] = [];
  const swept: PromiseWithResolvers<void>[] = [];
  const retention = new Retention({
    rules: () => Promise.resolve([parseRetentionRule("* 1h")]),
    indices: () => Promise.resolve(found),
    remove: ({ name }) => {
      removed.push(name);
      swept.pop()?.resolve();
      return Promise.resolve();
    },
    clock: new StillClock(),
    log: silentLogger(),
    metrics: new Metrics(),
  });
  for (const name of ["first", "second"]) {
    found = [{ name, uuid: name, sizeBytes: 1, lastMs: -DAY_MS }];
    const done = Promise.withResolvers<void>();
    swept.push(done);
    await retention.start();
    await done.promise;
    await retention.stop();
  }
  assert.deepEqual(removed, ["first", "second"]);
});
