import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FolderLock } from "./folder-lock.ts";

test("a folder held by a living process is refused with its pid, and free once that process is dead", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const script = `import { FolderLock } from ${JSON.stringify(new URL("./folder-lock.ts", import.meta.url).href)};
    FolderLock.acquire(${JSON.stringify(folder)}, "hub"); console.log("held"); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  assert.throws(() => FolderLock.acquire(folder, "hub"), {
    code: "data_locked",
    message: new RegExp(`process ${holder.pid}`),
  });
  holder.kill("SIGKILL");
  await once(holder, "exit");
  FolderLock.acquire(folder, "hub").release();
});

test("a lock whose content is damaged is taken over", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "hub.lock"), "{");
  FolderLock.acquire(folder, "hub").release();
});

test("a folder that this process holds is refused until it is released, by whatever path it is named", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const first = FolderLock.acquire(folder, "hub");
  symlinkSync(folder, join(folder, "link"));
  for (const path of [folder, join(folder, "link")])
    assert.throws(() => FolderLock.acquire(path, "hub"), { code: "data_locked" });
  FolderLock.acquire(folder, "other").release();
  first.release();
  const second = FolderLock.acquire(folder, "hub");
  first.release();
  assert.ok(FolderLock.isHeld(folder, "hub"), "a second release leaves the lock of the next holder");
  second.release();
});
