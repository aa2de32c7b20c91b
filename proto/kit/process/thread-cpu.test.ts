import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { threadWaitMs } from "./thread-cpu.ts";

const COUNTS = [
  { name: "nanoseconds that it waited are the second number", text: "81000000 5000000 12\n", waitMs: 5 },
  { name: "a thread that never waited", text: "81000000 0 12\n", waitMs: 0 },
  { name: "a kernel that doesn't count", text: "0 0 0\n", waitMs: undefined },
  { name: "a file that is empty", text: "", waitMs: undefined },
];

for (const { name, text, waitMs } of COUNTS)
  test(`the wait of a thread: ${name}`, (context) => {
    const folder = mkdtempSync(join(tmpdir(), "thread-cpu-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "schedstat");
    writeFileSync(file, text);
    assert.equal(threadWaitMs(file), waitMs);
  });

test("a system without such counts has none", () => {
  assert.equal(threadWaitMs("/nowhere/schedstat"), undefined);
});
