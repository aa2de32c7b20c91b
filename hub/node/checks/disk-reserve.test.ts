import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { until } from "#test/harness/until.ts";
import { DiskReserve, giveUpReserve } from "./disk-reserve.ts";

const FULL = 32 * MIB;

/** A reserve on a disk whose free space the test sets. */
function reserveOn(t: TestContext, free: number) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-reserve-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const reserve = new DiskReserve({
    folder,
    clock: systemClock,
    log: silentLogger(),
    metrics: new Metrics(),
    freeBytes: () => free,
  });
  const size = (): number => statSync(join(folder, "reserve"), { throwIfNoEntry: false })?.size ?? 0;
  return { folder, reserve, size };
}

test("a reserve is written on a disk that runs short, kept at a stop, and given up where the disk is full", async (t) => {
  const { folder, reserve, size } = reserveOn(t, 1_000 * MIB);
  await reserve.start();
  await until("the reserve", () => size() === FULL);
  await reserve.stop();
  assert.equal(size(), FULL);
  assert.equal(
    giveUpReserve(folder, () => 100 * MIB),
    false,
  );
  assert.equal(
    giveUpReserve(folder, () => MIB),
    true,
  );
  assert.equal(size(), 0);
});

for (const [what, free] of [
  ["much space", 100_000 * MIB],
  ["too little space", 40 * MIB],
] as const) {
  test(`no reserve is written on a disk with ${what}`, async (t) => {
    const { reserve, size } = reserveOn(t, free);
    await reserve.start();
    await reserve.stop();
    assert.equal(size(), 0);
  });
}

test("without a reserve there is none to give up", (t) => {
  const { folder } = reserveOn(t, 0);
  assert.equal(
    giveUpReserve(folder, () => 0),
    false,
  );
});
