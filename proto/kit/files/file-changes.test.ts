import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileChanges } from "./file-changes.ts";

const never = (error: unknown): never => assert.fail(String(error));

test("a file that is written, replaced, linked elsewhere, permitted or removed has changed, once", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [one, link, other] = ["one", "link", "other"].map((name) => join(folder, name));
  for (const path of [one!, other!]) writeFileSync(path, "a");
  symlinkSync(one!, link!);
  const changes = new FileChanges([one!, link!]);
  let uses = 0;
  const take = (): number => {
    changes.take(() => uses++, never);
    return uses;
  };
  assert.equal(take(), 0);
  for (const change of [
    () => writeFileSync(one!, "longer"),
    () => chmodSync(one!, 0o600),
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
    uses = 0;
    assert.deepEqual([take(), take()], [1, 1]);
  }
});

test("changed files that can't be used are tried again, at once when they change and after a second", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "one");
  const changes = new FileChanges([path]);
  const said: string[] = [];
  const take = (nowMs: number, fault?: string): string => {
    said.length = 0;
    const use = (): void => {
      said.push("use");
      if (fault !== undefined) throw new Error(fault);
    };
    changes.take(use, (error) => said.push((error as Error).message), nowMs);
    return said.join();
  };
  writeFileSync(path, "half");
  assert.equal(take(0, "half"), "use,half");
  assert.equal(take(999, "half"), "");
  assert.equal(take(1_000, "half"), "use", "its fault is known");
  writeFileSync(path, "more than half");
  assert.equal(take(1_001, "half"), "use,half");
  chmodSync(path, 0o600);
  assert.equal(take(1_002, "EMFILE"), "use,EMFILE");
  assert.equal(take(2_002), "use", "nothing but the time has changed");
  assert.equal(take(9_000), "");
});
