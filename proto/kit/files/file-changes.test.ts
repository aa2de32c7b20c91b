import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileChanges } from "./file-changes.ts";

/** Writes a file as it was written long ago. */
function writeSettled(path: string, text: string): void {
  writeFileSync(path, text);
  utimesSync(path, 0, 0);
}

const never = (error: unknown): never => assert.fail(String(error));

test("a file that is written, replaced, linked elsewhere, permitted or removed has changed, once", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [one, link, other] = ["one", "link", "other"].map((name) => join(folder, name));
  for (const path of [one!, other!]) writeSettled(path, "a");
  symlinkSync(one!, link!);
  const changes = new FileChanges([one!, link!]);
  let uses = 0;
  const take = (): number => {
    changes.take(() => uses++, never);
    return uses;
  };
  assert.equal(take(), 0);
  for (const change of [
    () => writeSettled(one!, "longer"),
    () => chmodSync(one!, 0o600),
    () => renameSync(other!, one!),
    () => {
      writeSettled(other!, "b");
      unlinkSync(link!);
      symlinkSync(other!, link!);
    },
    () => rmSync(one!),
    () => writeSettled(one!, "a"),
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
  writeSettled(path, "half");
  assert.equal(take(0, "half"), "use,half");
  assert.equal(take(999, "half"), "");
  assert.equal(take(1_000, "half"), "use", "its fault is known");
  writeSettled(path, "more than half");
  assert.equal(take(1_001, "half"), "use,half");
  chmodSync(path, 0o600);
  assert.equal(take(1_002, "EMFILE"), "use,EMFILE");
  assert.equal(take(2_002), "use", "nothing but the time has changed");
  assert.equal(take(9_000), "");
});

test("a file that was written just now is used once it has stayed as it is for a moment", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "one");
  const changes = new FileChanges([path]);
  let uses = 0;
  const take = (): number => {
    changes.take(() => uses++, never);
    return uses;
  };
  writeFileSync(path, "the first of two certificates");
  assert.equal(take(), 0);
  writeFileSync(path, "the first of two certificates, and the second");
  assert.equal(take(), 0);
  const nowS = Date.now() / 1_000;
  utimesSync(path, nowS, nowS - 2);
  assert.deepEqual([take(), take()], [1, 1]);
  // The clock of a file server may be ahead.
  utimesSync(path, nowS, nowS + 3_600);
  assert.equal(take(), 2);
});
