import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileChanges } from "./file-changes.ts";

test("a file that is written, replaced, linked elsewhere or removed has changed, once", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [one, link, other] = ["one", "link", "other"].map((name) => join(folder, name));
  for (const path of [one!, other!]) writeFileSync(path, "a");
  symlinkSync(one!, link!);
  const changes = new FileChanges([one!, link!]);
  assert.equal(changes.take(), false);
  for (const change of [
    () => writeFileSync(one!, "longer"),
    () => renameSync(other!, one!),
    () => {
      writeFileSync(other!, "b");
      unlinkSync(link!);
      symlinkSync(other!, link!);
    },
    () => rmSync(one!),
    () => writeFileSync(one!, "a"),
  ]) {
    change();
    assert.deepEqual([changes.take(), changes.take()], [true, false]);
  }
});
