import assert from "node:assert/strict";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { asOwnerOf, checkFolderOwner, foreignOwner } from "./folder-owner.ts";

const isRoot = process.getuid?.() === 0;
/** No system gives it to a user (systemd's list of users and groups). */
const NOBODYS = 54_321;

test("one's own folder, and one that isn't there, may be worked in", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-owner-"));
  t.after(() => rmSync(folder, { recursive: true }));
  checkFolderOwner(folder, "tailrace-hub");
  checkFolderOwner(join(folder, "none"), "tailrace-hub");
  assert.equal(foreignOwner(folder), undefined);
});

test("root gets an error with the folder's owner and the command to run as that user", {
  skip: !isRoot && "needs root",
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-owner-"));
  t.after(() => rmSync(folder, { recursive: true }));
  chownSync(folder, NOBODYS, NOBODYS);
  assert.deepEqual(foreignOwner(folder), { uid: NOBODYS, gid: NOBODYS });
  assert.throws(() => checkFolderOwner(folder, "tailrace-hub"), {
    code: "usage_invalid",
    message: /belongs to the user 54321.*sudo -u '#54321' tailrace-hub/,
  });
});

test("a user without access gets an error with the command to run as the folder's user", {
  skip: !isRoot && "needs root",
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-owner-"));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.match(asOwnerOf(folder, "tailrace-hub"), /the user of the folder: sudo tailrace-hub …$/);
  chownSync(folder, NOBODYS, NOBODYS);
  assert.match(asOwnerOf(folder, "tailrace-hub"), /sudo -u '#54321' tailrace-hub …$/);
});
