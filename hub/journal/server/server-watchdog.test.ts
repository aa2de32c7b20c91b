import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { ServerWatchdog, whySilent } from "./server-watchdog.ts";

/** A watchdog that probes every second and restarts after ten without an answer. */
function watched() {
  const clock = new StillClock();
  const state = { pid: 1 as number | undefined, answers: true, hangs: false, free: 100 * MIB, replaced: 0 };
  const watchdog = new ServerWatchdog({
    server: {
      get pid() {
        return state.pid;
      },
      replace: () => {
        state.replaced++;
        state.pid = (state.pid ?? 0) + 1;
        return Promise.resolve();
      },
    },
    probe: () => {
      if (state.hangs) return new Promise(() => undefined);
      return state.answers ? Promise.resolve() : Promise.reject(new Error("no responders"));
    },
    probeEveryMs: 1_000,
    unresponsiveMs: 10_000,
    folder: "/",
    freeBytes: () => state.free,
    clock,
    log: silentLogger(),
  });
  return { clock, state, watchdog };
}

for (const [what, change, replaced] of [
  ["a server that answers is left alone", {}, 0],
  ["a server whose answers are errors is restarted", { answers: false }, 1],
  ["a server that never answers is restarted", { hangs: true }, 1],
  ["a server that isn't running is left to its supervision", { answers: false, pid: undefined }, 0],
  ["without disk space a restart would not help", { answers: false, free: 1 * MIB }, 0],
] as const) {
  test(what, async () => {
    const { clock, state, watchdog } = watched();
    await watchdog.start();
    await clock.advance(5_000);
    Object.assign(state, change);
    await clock.advance(9_000);
    assert.equal(state.replaced, 0, "not before its time");
    await clock.advance(4_000);
    assert.equal(state.replaced, replaced);
    await watchdog.stop();
  });
}

test("a server without disk space is restarted once there is space", async () => {
  const { clock, state, watchdog } = watched();
  Object.assign(state, { answers: false, free: 0 });
  await watchdog.start();
  await clock.advance(30_000);
  assert.equal(state.replaced, 0);
  state.free = 100 * MIB;
  await clock.advance(2_000);
  assert.equal(state.replaced, 1);
  await watchdog.stop();
});

test("a server that has just started gets its time again", async () => {
  const { clock, state, watchdog } = watched();
  state.answers = false;
  await watchdog.start();
  await clock.advance(9_000);
  state.pid = 7;
  await clock.advance(9_000);
  assert.equal(state.replaced, 0);
  await watchdog.stop();
});

test("a server that doesn't answer at a start is explained by a full disk, or its crash", () => {
  const late = new AppError("timeout", "state of RAW: NATS did not answer in time");
  const server = { folder: "/data", crash: "", streamsFolder: "/data/streams", freeBytes: () => 32 * MIB };
  assert.equal(whySilent(late, server), late);
  const crashed = whySilent(late, { ...server, crash: "panic: runtime error: slice bounds" }) as AppError;
  assert.deepEqual([crashed.code, crashed.cause], ["data_corrupt", late]);
  assert.match(
    crashed.message,
    /^state of RAW: .*panic: runtime error.*Restore the data folder .* away from \/data\/streams/,
  );
  const full = whySilent(late, { ...server, freeBytes: () => 31 * MIB }) as AppError;
  assert.deepEqual([full.code, full.cause], ["disk_full", late]);
  assert.match(full.message, /the disk is full: \/data has 31 MiB left/);
  const other = new AppError("nats_refused", "JetStream is disabled");
  assert.equal(whySilent(other, { ...server, freeBytes: () => 0 }), other);
});
