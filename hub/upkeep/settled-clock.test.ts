import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { settledClock } from "./settled-clock.ts";

/** A machine whose clock can be set; starts at 1,000 days. */
class Machine {
  upMs = HOUR_MS;
  wallMs = 1_000 * DAY_MS;
  readonly clock: Clock;

  constructor() {
    const wall: Clock = { now: () => this.wallMs, monotonic: () => 0, sleep: () => Promise.resolve() };
    this.clock = settledClock(wall, silentLogger(), () => this.upMs);
  }

  pass(ms: number): void {
    this.upMs += ms;
    this.wallMs += ms;
  }

  /** Time by the settled clock, behind the wall clock. */
  get behindMs(): number {
    return this.wallMs - this.clock.now();
  }
}

test("a step forward counts once the clock has kept it for a day", () => {
  const machine = new Machine();
  machine.wallMs += 400 * DAY_MS;
  assert.equal(machine.behindMs, 400 * DAY_MS);
  machine.pass(DAY_MS - 1);
  assert.equal(machine.behindMs, 400 * DAY_MS);
  machine.pass(1);
  assert.equal(machine.behindMs, 0);
});

test("a step forward that is taken back never counts, and the next one waits its own day", () => {
  const machine = new Machine();
  machine.wallMs += 400 * DAY_MS;
  assert.equal(machine.behindMs, 400 * DAY_MS);
  machine.pass(DAY_MS / 2);
  machine.wallMs -= 400 * DAY_MS;
  assert.equal(machine.behindMs, 0);
  machine.wallMs += DAY_MS;
  machine.pass(DAY_MS / 2);
  assert.equal(machine.behindMs, DAY_MS);
  machine.pass(DAY_MS / 2);
  assert.equal(machine.behindMs, DAY_MS);
});

test("a step forward doesn't count sooner for a smaller one before it, which counts after its own day", () => {
  const machine = new Machine();
  machine.wallMs += HOUR_MS;
  assert.equal(machine.behindMs, HOUR_MS);
  machine.pass(DAY_MS - 1);
  machine.wallMs += 400 * DAY_MS;
  assert.equal(machine.behindMs, 400 * DAY_MS + HOUR_MS);
  machine.pass(1);
  assert.equal(machine.behindMs, 400 * DAY_MS);
  machine.pass(DAY_MS - 1);
  assert.equal(machine.behindMs, 400 * DAY_MS);
  machine.pass(1);
  assert.equal(machine.behindMs, 0);
});

test("steps back, small corrections and a suspension count at once", () => {
  const machine = new Machine();
  machine.wallMs -= DAY_MS;
  assert.equal(machine.behindMs, 0);
  machine.wallMs += 4_999;
  assert.equal(machine.behindMs, 0);
  machine.pass(8 * HOUR_MS);
  assert.equal(machine.behindMs, 0);
});
