import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DescriptorReader, isNear } from "./descriptor-reader.ts";

for (const near of [true, false]) {
  test(`a file ${near ? "near" : "far away"} is read at any place up to its end`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "tailrace-read-"));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "a"), "0123456789");
    const fd = openSync(join(folder, "a"), "r");
    t.after(() => closeSync(fd));
    const reader = new DescriptorReader(fd, near);
    const buffer = Buffer.alloc(8, "-");
    for (const [at, length, position, expected] of [
      [2, 4, 3, "--3456--"],
      [0, 8, 6, "678956--"],
      [0, 8, 10, "678956--"],
    ] as const) {
      const read = await reader.read(buffer, at, length, position);
      assert.deepEqual([read, buffer.toString()], [Math.min(length, 10 - position), expected]);
    }
  });
}

test("a file whose file system is unknown counts as remote", () => {
  assert.equal(isNear("/nowhere/at/all"), false);
  assert.equal(isNear("/proc/self"), false);
});
