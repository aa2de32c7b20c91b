import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { RetentionRules } from "./retention-rules.ts";

function rulesOver(fixed: readonly string[] = []) {
  const index = (name: string, ageDays: number) => ({
    name,
    uuid: `${name}-uuid`,
    sizeBytes: 10,
    lastMs: (100 - ageDays) * DAY_MS,
  });
  return new RetentionRules({
    bucket: new MemoryBucket(),
    own: [".own-* 400d"],
    fixed,
    indices: async () => [index("logs-1", 40), index("logs-2", 2), index("web-1", 90), index(".own-1", 90)],
    nowMs: () => 100 * DAY_MS,
  });
}

test("rules of the settings count before those of the page, the hub's own indices before all", async () => {
  const rules = rulesOver(["web-* 100d"]);
  const { revision } = await rules.put(["* 30d"], 0);
  assert.deepEqual(await rules.view(), { fixed: ["web-* 100d"], rules: ["* 30d"], revision });
  assert.deepEqual(
    (await rules.all()).map(({ pattern }) => pattern),
    [".own-*", "web-*", "*"],
  );
});

test("a preview lists what rules would delete, and changes nothing", async () => {
  const rules = rulesOver();
  assert.deepEqual(await rules.due(["logs-* 30d", "web-* 1d"]), ["logs-1", "web-1"]);
  assert.deepEqual(await rules.due([]), []);
  assert.deepEqual((await rules.view()).rules, []);
});

test("a rule that can't be read, one too many and a change of what isn't the newest are refused", async () => {
  const rules = rulesOver();
  await assert.rejects(rules.put(["logs-*"], 0), { code: "request_invalid" });
  await assert.rejects(rules.due(["logs-* soon"]), { code: "request_invalid" });
  const many = Array.from({ length: 101 }, (_, number) => `logs-${number} 1d`);
  await assert.rejects(rules.put(many, 0), { code: "request_invalid" });
  await rules.put(["logs-* 30d"], 0);
  await assert.rejects(rules.put([], 0), { code: "journal_conflict" });
});
