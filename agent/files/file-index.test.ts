import assert from "node:assert/strict";
import { test } from "node:test";
import { bornAt, FileIndex, isFile, newEntry } from "./file-index.ts";

test("a file whose inode another one got stays known until it is removed or found again", () => {
  const index = new FileIndex();
  const old = newEntry("1-2", 1_000, "/logs/a.log", "", 1);
  index.add(old);
  index.identify(old, "1-2-3b9aca00");
  const heir = newEntry("1-2", 2_000, "/logs/b.log", "", 2);
  index.add(heir);
  assert.deepEqual([index.get("1-2"), [...index.values()]], [heir, [heir, old]]);
  assert.deepEqual([index.isReplaced(old), index.isReplaced(heir)], [true, false]);
  index.remove(old);
  assert.deepEqual([...index.values()], [heir]);
  index.addReplaced(old);
  index.identify(heir, old.key);
  assert.deepEqual([...index.values()], [heir], "it was the same file");
});

test("a file that was never opened needs no memory when its inode goes to another one", () => {
  const index = new FileIndex();
  index.add(newEntry("1-2", 1_000, "/logs/a.log", "", 1));
  const heir = newEntry("1-2", 2_000, "/logs/a.log", "", 2);
  index.add(heir);
  assert.deepEqual([...index.values()], [heir]);
});

test("a file is known by its key, or by its time of birth while it has none", () => {
  const key = "fe00-98-18e9fe35abeaae17";
  const birthtimeMs = Number(0x18e9fe35abeaae17n) / 1e6;
  assert.equal(isFile({ key, birthtimeMs: Number.NaN }, key), true);
  assert.equal(isFile({ key: "", birthtimeMs }, key), true);
  assert.equal(isFile({ key: "", birthtimeMs: birthtimeMs + 1 }, key), false);
  assert.equal(bornAt("fe00-98-0", 0), true, "where the system doesn't tell it");
});
