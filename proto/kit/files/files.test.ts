import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { syncFolder, writeFileAtomic, writeFully } from "./files.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "tailrace-files-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("a file is replaced as a whole and leaves nothing beside it", (t) => {
  const at = folder(t);
  const path = join(at, "state.json");
  writeFileAtomic(path, "a much longer first text");
  writeFileAtomic(path, new Uint8Array([111, 107]));
  assert.equal(readFileSync(path, "utf8"), "ok");
  assert.deepEqual(readdirSync(at), ["state.json"]);
});

test("a file has the given mode, which is private by default", (t) => {
  const path = join(folder(t), "secret");
  writeFileAtomic(path, "x", 0o600);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a replacement that fails leaves the old content and nothing beside it", (t) => {
  const at = folder(t);
  const path = join(at, "taken");
  writeFileAtomic(path, "old");
  const blocker = join(path, "inside");
  assert.throws(() => writeFileAtomic(blocker, "new"), { code: "ENOTDIR" });
  assert.equal(readFileSync(path, "utf8"), "old");
  assert.deepEqual(readdirSync(at), ["taken"]);
});

test("a target that can't be replaced leaves no temporary file", (t) => {
  const at = folder(t);
  const target = join(at, "folder");
  writeFileAtomic(join(at, "plain"), "x");
  mkdtempSync(`${target}-`);
  const [name] = readdirSync(at).filter((each) => each.startsWith("folder-"));
  assert.throws(() => writeFileAtomic(join(at, name!), "x"), { code: "EISDIR" });
  assert.deepEqual(
    readdirSync(at).filter((each) => each.endsWith(".tmp")),
    [],
  );
});

test("all bytes of a large buffer are written", (t) => {
  const path = join(folder(t), "large");
  const bytes = Buffer.alloc(3_000_000, "abc");
  writeFully(openSync(path, "w"), bytes);
  assert.ok(readFileSync(path).equals(bytes));
});

test("syncing a missing folder fails with its path", (t) => {
  assert.throws(() => syncFolder(join(folder(t), "none")), { code: "ENOENT" });
});

test("a file in a folder without write permission is refused", {
  skip: process.getuid?.() === 0 && "root may write anywhere",
}, (t) => {
  const at = folder(t);
  writeFileSync(join(at, "state"), "old");
  chmodSync(at, 0o500);
  assert.throws(() => writeFileAtomic(join(at, "state"), "new"), { code: "EACCES" });
  chmodSync(at, 0o700);
});
