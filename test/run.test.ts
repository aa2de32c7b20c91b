import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

test("the flags of the caller are those of the tests too", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-run-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "gc.test.ts");
  writeFileSync(file, `import { test } from "node:test"; test("gc", () => globalThis.gc());`);
  const run = (...flags: string[]): number | null =>
    spawnSync(process.execPath, [...flags, resolve(import.meta.dirname, "run.ts"), file]).status;
  assert.deepEqual([run("--expose-gc"), run()], [0, 1]);
});
