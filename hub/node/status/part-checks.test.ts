import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { FleetAgent } from "#hub/fleet/fleet.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { OK } from "./health.ts";
import {
  agentsCheck,
  certificateCheck,
  clockCheck,
  deadLettersCheck,
  fullStreams,
  namesCheck,
} from "./health-checks.ts";

const NOW_MS = Date.UTC(2026, 10, 23);

function agent(name: string, fields: Partial<FleetAgent> = {}): FleetAgent {
  const well = { health: "ok", lagBytes: 0, isLogFull: false, lastSeenMs: NOW_MS, clockOffsetMs: 0 };
  return { name, ...well, ...fields };
}

function lost(name: string, silentMs: number): FleetAgent {
  return agent(name, { health: "lost", lastSeenMs: NOW_MS - silentMs });
}

test("indices that lost their names are named, with the remedy", async () => {
  assert.deepEqual(await namesCheck(() => [])(0), OK);
  const nameless = ["logs", "web"].map((name) => ({ name, uuid: `${name}-uuid` }));
  const { level, reason } = await namesCheck(() => nameless)(0);
  assert.equal(level, "degraded");
  assert.match(
    reason,
    /^index logs \(logs-uuid\) lost its name to another index, and 1 more: .* DELETE \/logs,/,
  );
});

for (const [what, agents, reason] of [
  ["agents that report", [agent("web-1"), agent("web-2")], undefined],
  [
    "agents that fell silent",
    [agent("web-1"), lost("web-2", HOUR_MS), lost("web-3", 3 * MINUTE_MS)],
    "silent agents: 2 of 3; web-3 was last seen 3 min ago",
  ],
  ["an agent that has been silent for days", [lost("web-1", 2 * DAY_MS)], undefined],
] as const) {
  test(`${what} are ${reason === undefined ? "no trouble" : "named"}, once a started hub could have heard of them`, async () => {
    const check = agentsCheck(
      () => agents,
      () => NOW_MS,
    );
    assert.deepEqual(await check(0), OK);
    assert.deepEqual(await check(MINUTE_MS), reason === undefined ? OK : { level: "degraded", reason });
  });
}

test("a stream is full for this hub, or for an agent that reports it and isn't silent", () => {
  const waiting = agent("web-1", { isLogFull: true });
  assert.deepEqual(fullStreams([], [agent("web-2")]), []);
  assert.deepEqual(fullStreams([], [agent("web-2"), waiting]), ["RAW"]);
  assert.deepEqual(fullStreams(["DOC", "RAW"], [waiting]), ["DOC", "RAW"]);
  assert.deepEqual(fullStreams([], [{ ...waiting, health: "lost" }]), []);
});

test("a clock that is set is reported for a quarter of an hour", async () => {
  const time = { wallMs: NOW_MS, runMs: 0, upMs: 7 };
  const check = clockCheck(
    { now: () => time.wallMs },
    () => [],
    () => time.upMs,
  );
  const passes = (ms: number): void => {
    time.wallMs += ms;
    time.upMs += ms;
    time.runMs += ms;
  };
  passes(5_000);
  assert.deepEqual(await check(time.runMs), OK);
  time.wallMs += HOUR_MS;
  time.upMs += HOUR_MS;
  assert.deepEqual(await check(time.runMs), OK, "the machine was suspended");
  time.wallMs += 1_000;
  assert.deepEqual(await check(time.runMs), OK, "a time daemon's step");
  time.wallMs -= DAY_MS;
  const reason = "the clock was set back by 24 h, 0 s ago";
  assert.deepEqual(await check(time.runMs), { level: "degraded", reason });
  passes(10 * MINUTE_MS);
  assert.match((await check(time.runMs)).reason, /10 min ago/);
  passes(5 * MINUTE_MS);
  assert.deepEqual(await check(time.runMs), OK);
});

test("agents whose clock differs are named, those that are silent are not", async () => {
  const clock = { now: () => 0 };
  const agents = [
    agent("web-1", { clockOffsetMs: 2_000 }),
    agent("web-2", { clockOffsetMs: -3 * HOUR_MS }),
    agent("web-3", { health: "lost", clockOffsetMs: -5 * HOUR_MS }),
  ];
  const reason = "agents whose clock differs from this machine's: 1 of 2; web-2 is 3 h behind it";
  assert.deepEqual(await clockCheck(clock, () => agents)(0), { level: "degraded", reason });
});

test("a certificate is degraded before it expires, with a reload that fails, and failing outside of its time", async (t) => {
  const workspace = new Workspace(t);
  const [key, file] = [workspace.path("a.key"), workspace.path("a.pem")];
  const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "90"];
  execFileSync("openssl", ["req", "-x509", ...options, "-subj", "/CN=a", "-keyout", key, "-out", file], {
    stdio: "ignore",
  });
  const pem = readFileSync(file);
  const issuedMs = Date.now();
  const finding = (days: number, problem = "") =>
    certificateCheck({
      certificate: () => pem,
      problem: () => problem,
      now: () => issuedMs + days * DAY_MS,
    })(0);
  assert.deepEqual(await finding(70), OK);
  assert.deepEqual(await finding(80), { level: "degraded", reason: "the certificate expires in 10 days" });
  assert.deepEqual(await finding(95), { level: "failing", reason: "the certificate expired 5 days ago" });
  assert.equal((await finding(-2)).level, "failing");
  assert.match((await finding(10, "no key")).reason, /the old certificate is in use: no key/);
});

test("without TLS there is no certificate to watch", async () => {
  const parts = { certificate: () => undefined, problem: () => "", now: () => NOW_MS };
  assert.deepEqual(await certificateCheck(parts)(0), OK);
});

test("dead letters are counted and reported for a quarter of an hour after the last one", async () => {
  let sequence = 7;
  const check = deadLettersCheck(() => Promise.resolve(sequence));
  assert.deepEqual(await check(0), OK, "those of an earlier run");
  sequence = 9;
  assert.match((await check(1_000)).reason, /^new dead letters: 2, /);
  sequence = 10;
  assert.match((await check(10 * MINUTE_MS)).reason, /^new dead letters: 3, the last one 0 s ago/);
  assert.deepEqual(await check(25 * MINUTE_MS), OK);
  sequence = 11;
  assert.match((await check(26 * MINUTE_MS)).reason, /^new dead letters: 1, /);
});
