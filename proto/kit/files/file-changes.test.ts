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
import { type TestContext, test } from "node:test";
import { FileChanges } from "./file-changes.ts";

const never = (error: unknown): never => assert.fail(String(error));

test("a file that is written, replaced, linked elsewhere, permitted or removed has changed, once", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [one, link, other] = ["one", "link", "other"].map((name) => join(folder, name));
  for (const path of [one!, other!]) writeFileSync(path, "a");
  symlinkSync(one!, link!);
  const changes = new FileChanges([one!, link!]);
  let [uses, nowMs] = [0, 0];
  const take = (): number => {
    changes.take(() => uses++, never, (nowMs += 1_000));
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
    assert.deepEqual([take(), take(), take()], [0, 1, 1]);
  }
});

/** A file, its changes, and `take`, which returns what it called: "use", and the messages of faults. */
function watched(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-changes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "one");
  const changes = new FileChanges([path]);
  const take = (nowMs: number, fault?: string): string => {
    const said: string[] = [];
    const use = (): void => {
      said.push("use");
      if (fault !== undefined) throw new Error(fault);
    };
    changes.take(use, (error) => said.push((error as Error).message), nowMs);
    return said.join();
  };
  return { path, take };
}

test("changed files that can't be used are tried again each second, and soon when they change", (t) => {
  const { path, take } = watched(t);
  writeFileSync(path, "half");
  assert.equal(take(0), "");
  assert.equal(take(1_000, "half"), "use,half");
  assert.equal(take(1_999, "half"), "");
  assert.equal(take(2_000, "half"), "use", "its fault is known");
  writeFileSync(path, "more than half");
  assert.equal(take(2_001), "");
  assert.equal(take(3_001, "half"), "use,half");
  chmodSync(path, 0o600);
  assert.equal(take(3_002), "");
  assert.equal(take(4_002, "EMFILE"), "use,EMFILE");
  assert.equal(take(5_002), "use", "nothing but the time has changed");
  assert.equal(take(9_000), "");
});

test("a changed file is used once it has stayed the same for a second, whatever its time says", (t) => {
  const { path, take } = watched(t);
  const nowS = Date.now() / 1_000;
  for (const [at, mtimeS] of [nowS - 3_600, nowS, nowS + 3_600].entries()) {
    const startMs = at * 10_000;
    writeFileSync(path, `the first of two certificates, ${at}`);
    utimesSync(path, nowS, mtimeS);
    assert.equal(take(startMs), "");
    writeFileSync(path, `the first of two certificates, and the second, ${at}`);
    utimesSync(path, nowS, mtimeS);
    assert.equal(take(startMs + 1_000), "");
    assert.equal(take(startMs + 1_999), "");
    assert.equal(take(startMs + 2_000), "use");
  }
});

test("a file that doesn't settle for a minute is reported, once", (t) => {
  const { path, take } = watched(t);
  const said = (fromMs: number, toMs: number): string[] => {
    const all: string[] = [];
    for (let nowMs = fromMs; nowMs < toMs; nowMs += 500) {
      writeFileSync(path, "x".repeat(nowMs / 500 + 1));
      all.push(take(nowMs));
    }
    return all.filter((each) => each !== "");
  };
  assert.deepEqual(said(0, 60_000), []);
  const [message, ...others] = said(60_000, 200_000);
  assert.match(message!, /one are used as they were before: they have kept changing for 60 s/);
  assert.deepEqual(others, []);
  assert.equal(take(201_000), "use");
  assert.deepEqual(said(202_000, 262_000), [], "the next change has its own minute");
  assert.equal(said(262_000, 263_000).length, 1);
});
