import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
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
  assert.deepEqual(
    readdirSync(found).filter((name) => name.startsWith("tailrace-memory-")),
    [],
  );
});
