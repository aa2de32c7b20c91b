import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openWithin } from "./open-safely.ts";

/** Returns what opening came to: "opened", or the reason against it. */
function outcome(path: string, root: string | null): string {
  const opened = openWithin(path, path, root);
  if (typeof opened === "string") return opened;
  closeSync(opened);
  return "opened";
}

test("below the root no link is followed, neither a file's nor a folder's; above it links are", (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "open-")));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "root/app"), { recursive: true });
  mkdirSync(join(folder, "secret"));
  writeFileSync(join(folder, "root/app/a.log"), "a\n");
  writeFileSync(join(folder, "secret/a.log"), "secret\n");
  symlinkSync("../secret", join(folder, "root/evil"));
  symlinkSync("../../secret/a.log", join(folder, "root/app/link.log"));
  symlinkSync("root", join(folder, "alias"));
  const root = join(folder, "root");
  assert.equal(outcome(join(root, "app/a.log"), root), "opened");
  assert.equal(outcome(join(folder, "alias/app/a.log"), join(folder, "alias")), "opened");
  assert.match(outcome(join(root, "evil/a.log"), root), /symbolic link on its path leads to .*secret/);
  assert.throws(() => outcome(join(root, "app/link.log"), root), { code: "ELOOP" });
  assert.equal(outcome(join(root, "evil/a.log"), null), "opened");
});

test("a hard link in a world-writable folder is refused", (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "open-")));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "secret"), "secret\n");
  for (const [name, mode] of [
    ["private", 0o755],
    ["shared", 0o777],
  ] as const) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), mode);
    linkSync(join(folder, "secret"), join(folder, name, "a.log"));
    const path = join(folder, name, "a.log");
    assert.match(outcome(path, folder), mode === 0o777 ? /several names/ : /^opened$/);
  }
});

test("a hard link to another user's file in a user's folder is refused", {
  skip: process.getuid?.() !== 0,
}, (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "open-")));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "secret"), "secret\n");
  mkdirSync(join(folder, "home"));
  linkSync(join(folder, "secret"), join(folder, "home/a.log"));
  chownSync(join(folder, "home"), 65_534, 65_534);
  assert.match(outcome(join(folder, "home/a.log"), folder), /another user may have linked it/);
});
