import assert from "node:assert/strict";
import { test } from "node:test";
import { isComplete } from "./import-report.ts";

test("an import that left out a closed index isn't complete", () => {
  const report = { definitions: [], indices: [], retention: [], lifecyclesStopped: false };
  assert.equal(isComplete({ ...report, closed: [] }), true);
  assert.equal(isComplete({ ...report, closed: ["old"] }), false);
});
