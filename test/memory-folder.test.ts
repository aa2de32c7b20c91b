import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { memoryFolder } from "./memory-folder.ts";

test("a folder that is missing or not in memory is not used", () => {
  assert.equal(memoryFolder("/nowhere"), undefined);
  assert.equal(memoryFolder("/proc"), undefined);
  assert.equal(memoryFolder(import.meta.dirname), undefined);
});

test("looking for a folder in memory leaves nothing in it", (t) => {
  const found = memoryFolder();
  if (found === undefined) return t.skip("this system has none");
  // A folder of the test's own, as runs beside this one look into the common one.
  const own = mkdtempSync(join(found, "tailrace-test-"));
  t.after(() => rmSync(own, { recursive: true, force: true }));
  assert.equal(memoryFolder(own), own);
  assert.deepEqual(readdirSync(own), []);
});
