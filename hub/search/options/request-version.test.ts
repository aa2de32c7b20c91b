import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { answersAs, gatherWarnings, warnDeprecated } from "./request-version.ts";

for (const [version, expected] of [
  [605, ["always", "before 7"]],
  [607, ["always", "before 7", "of 6.7"]],
  [710, ["always", "from 7.2 on"]],
] as const) {
  test(`a request that is answered as ${version} is warned of ${expected.join(", ")}`, async () => {
    const warnings = new Set<string>();
    await gatherWarnings(warnings, version, async () => {
      await setImmediate();
      warnDeprecated("always");
      warnDeprecated("always");
      warnDeprecated("before 7", { until: 700 });
      warnDeprecated("of 6.7", { from: 607, until: 608 });
      warnDeprecated("from 7.2 on", { from: 702 });
      assert.equal(answersAs(700), version >= 700);
    });
    assert.deepEqual([...warnings], expected);
  });
}

test("outside of a request the version is 6.5, and no warning is kept", () => {
  warnDeprecated("nobody");
  assert.ok(answersAs(605));
  assert.ok(!answersAs(606));
});
