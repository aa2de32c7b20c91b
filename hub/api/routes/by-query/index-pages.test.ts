import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { REFRESHED } from "#hub/host/contract/hosted-shards.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { refreshWhole } from "./index-pages.ts";

const INDEX = { name: "a" } as IndexInfo;

/** Copies whose refreshes fail at once until `wellMs`, on a clock that only pauses move. */
function copies(
  wellMs: number,
): Pick<ApiContext, "maintenance" | "clock"> & { readonly tries: () => number } {
  let [nowMs, tries] = [0, 0];
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    async sleep(ms) {
      nowMs += ms;
    },
  };
  const refresh = async () => {
    tries++;
    return nowMs < wellMs ? { ...REFRESHED, behind: new AppError("unavailable", "no log") } : REFRESHED;
  };
  return { clock, maintenance: { refresh } as unknown as ApiContext["maintenance"], tries: () => tries };
}

describe("a refresh of an index of which nothing may be missed", () => {
  test("is repeated while the log is away for some seconds and refreshes fail at once", async () => {
    await refreshWhole(copies(20_000), INDEX, new AbortController().signal);
  });

  test("fails when the log is away for longer", async () => {
    await assert.rejects(refreshWhole(copies(60_000), INDEX, new AbortController().signal), /no log/);
  });

  test("ends when it is aborted", async () => {
    const world = copies(60_000);
    const abort = new AbortController();
    const clock = { ...world.clock, sleep: async () => abort.abort(new Error("given up")) };
    await assert.rejects(refreshWhole({ ...world, clock }, INDEX, abort.signal), /given up/);
    assert.equal(world.tries(), 1);
  });
});
