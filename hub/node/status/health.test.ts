import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB, MINUTE_MS } from "#proto/kit/units.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { type Finding, Health, type HealthCheck, OK } from "./health.ts";
import { diskCheck, logCheck, progressCheck, restartCheck, worstOf } from "./health-checks.ts";

const degraded: Finding = { level: "degraded", reason: "little space" };
const failing: Finding = { level: "failing", reason: "no space" };

test("the report is as bad as its worst part, a check that throws included, and metrics agree", async () => {
  const found: Record<string, Finding> = { a: OK, b: OK };
  const metrics = new Metrics();
  const health = new Health({
    checks: {
      a: () => found["a"]!,
      b: () => found["b"]!,
      c: () => (found["c"] === undefined ? OK : Promise.reject(new Error("does not answer"))),
    },
    clock: new StillClock(),
    log: silentLogger(),
    metrics,
  });
  const status = async (): Promise<string> => {
    await health.check();
    return health.report().status;
  };
  assert.equal(await status(), "ok");
  found["b"] = degraded;
  assert.equal(await status(), "degraded");
  assert.match(await metrics.text(), /tailrace_hub_health_level\{part="b"\} 1/);
  found["c"] = failing;
  assert.equal(await status(), "failing");
  assert.deepEqual(health.report().parts[1], { part: "b", ...degraded });
  assert.equal(health.report().parts[2]?.level, "failing");
  delete found["c"];
  found["b"] = OK;
  assert.equal(await status(), "ok");
});

for (const [free, level] of [
  [10 * MIB, "failing"],
  [100 * MIB, "degraded"],
  [1_000 * MIB, "ok"],
] as const) {
  test(`a disk with ${free / MIB} MiB free is ${level}`, async () => {
    assert.equal((await diskCheck("/data", () => free)(0)).level, level);
  });
}

test("a log that waits for space fails, one that will be full soon is degraded, and one that drains is well", async () => {
  let bytes = 10;
  let full: string[] = [];
  const check = logCheck({
    states: () => Promise.resolve([{ name: "RAW", bytes, maxBytes: 100 }]),
    full: () => full,
  });
  assert.deepEqual(await check(0), OK);
  bytes = 30;
  assert.match((await check(MINUTE_MS)).reason, /RAW is 30 % full, and full in 4 min at this rate/);
  bytes = 20;
  assert.deepEqual(await check(2 * MINUTE_MS), OK);
  bytes = 95;
  assert.equal((await check(200 * MINUTE_MS)).level, "degraded");
  full = ["RAW"];
  assert.deepEqual(await check(201 * MINUTE_MS), {
    level: "failing",
    reason: "RAW: no space, publishers wait",
  });
});

test("a reader that stands still with messages before it fails after a minute, and is well when it moves", async () => {
  let progress = { done: 5, waiting: 0 };
  const check = progressCheck(() => Promise.resolve(progress), "indexed");
  const level = async (minutes: number): Promise<string> => (await check(minutes * MINUTE_MS)).level;
  assert.equal(await level(0), "ok");
  assert.equal(await level(10), "ok", "nothing waits");
  progress = { done: 5, waiting: 3 };
  assert.equal(await level(10.5), "ok");
  assert.match((await check(11.5 * MINUTE_MS)).reason, /nothing was indexed for 90 s while 3 messages wait/);
  progress = { done: 6, waiting: 2 };
  assert.equal(await level(12), "ok");
});

test("of several findings the worst counts", async () => {
  const say =
    (finding: Finding): HealthCheck =>
    () =>
      finding;
  assert.deepEqual(await worstOf(say(degraded), say(OK), say(failing))(0), failing);
  assert.deepEqual(await worstOf(say(OK), say(degraded))(0), degraded);
});

test("a nats-server that ends again and again is trouble, a single end isn't", async () => {
  let starts = 1;
  const check = restartCheck(() => starts);
  assert.deepEqual(await check(0), OK);
  starts = 2;
  assert.deepEqual(await check(1_000), OK);
  starts = 4;
  assert.match(
    (await check(2_000)).reason,
    /nats-server ended 3 times within a minute .*restore it from a snapshot/,
  );
  assert.equal((await check(30_000)).level, "degraded");
  assert.deepEqual(await check(2_000 + MINUTE_MS), OK);
});
