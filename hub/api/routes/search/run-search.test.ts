import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { timedBody } from "./run-search.ts";

type Parts = Parameters<typeof timedBody>[0];

/** A hub with these settings of the cluster and of its own, ms. */
function hub(persistent: JsonObject, searchTimeoutMs = 30_000, transient: JsonObject = {}): Parts {
  return { cluster: { settings: () => ({ persistent, transient }) }, searchTimeoutMs } as unknown as Parts;
}

const NAME = "search.default_search_timeout";

suite("the time of a search", () => {
  const rows: readonly (readonly [
    what: string,
    parts: Parts,
    timeout: unknown,
    own: unknown,
    limitMs: unknown,
  ])[] = [
    ["is the hub's where it names none", hub({}), undefined, "30000ms", 40_000],
    ["is its own where that is shorter", hub({}), "50ms", "50ms", 40_000],
    ["is its own where that is longer", hub({}), "2m", "2m", 130_000],
    ["is its own where no timer runs for so long", hub({}), "30d", "30d", undefined],
    [
      "has no limit where the cluster's is longer than a timer",
      hub({ [NAME]: "60d" }),
      undefined,
      "5184000000ms",
      undefined,
    ],
    ["has no limit where it asks for none", hub({}), "-1", "-1", undefined],
    ["is the cluster's where that has one", hub({ [NAME]: "5s" }), undefined, "5000ms", 15_000],
    [
      "is the transient one before the other",
      hub({ [NAME]: "5s" }, 0, { [NAME]: "1s" }),
      undefined,
      "1000ms",
      11_000,
    ],
    ["has no limit where the cluster's is -1", hub({ [NAME]: "-1" }), undefined, undefined, undefined],
    ["has no limit where the hub's is 0", hub({}, 0), undefined, undefined, undefined],
  ];
  for (const [what, parts, timeout, own, limitMs] of rows) {
    test(what, () => {
      const found = timedBody(parts, { size: 0, ...(timeout !== undefined && { timeout }) });
      assert.equal(found.body["timeout"], own);
      assert.equal(found.limitMs, limitMs);
      assert.equal(found.body["size"], 0);
    });
  }
});
