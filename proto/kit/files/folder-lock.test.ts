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

test("a process can't lock a folder twice, by whatever path, until it releases it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  symlinkSync(folder, join(folder, "link"));
  const lock = FolderLock.acquire(folder, "hub");
  assert.throws(() => FolderLock.acquire(join(folder, "link"), "hub"), { code: "data_locked" });
  FolderLock.acquire(folder, "other").release();
  lock.release();
  FolderLock.acquire(join(folder, "link"), "hub").release();
});

test("a lock whose content is damaged is taken over", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "hub.lock"), "{");
  FolderLock.acquire(folder, "hub").release();
});
