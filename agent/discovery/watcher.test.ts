import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { Watcher } from "./watcher.ts";

/** A folder that is watched, and a wait for the hint of a path. */
function watched(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), "tailrace-watcher-"));
  t.after(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, "logs");
  const waiting = new Map<string, () => void>();
  const watcher = new Watcher((path) => waiting.get(path)?.(), silentLogger());
  t.after(() => watcher.stop());
  const hinted = (path: string): Promise<void> => new Promise((resolve) => waiting.set(path, resolve));
  mkdirSync(folder);
  watcher.add(folder);
  return { folder, watcher, hinted };
}

for (const [name, remove] of [
  ["removed", (folder: string) => rmSync(folder, { recursive: true })],
  ["moved away", (folder: string) => renameSync(folder, `${folder}.old`)],
] as const)
  test(`a folder that is ${name} and made again is watched on`, { timeout: 10_000 }, async (t) => {
    const { folder, watcher, hinted } = watched(t);
    const gone = hinted(join(folder, "logs"));
    remove(folder);
    mkdirSync(folder);
    await gone;
    watcher.add(folder); // as the next scan does
    const file = join(folder, "app.log");
    const written = hinted(file);
    writeFileSync(file, "x\n");
    await written;
  });

test("a folder that comes back later is watched from the next scan on", { timeout: 10_000 }, async (t) => {
  const { folder, watcher, hinted } = watched(t);
  const gone = hinted(join(folder, "logs"));
  rmSync(folder, { recursive: true });
  await gone;
  mkdirSync(folder);
  watcher.add(folder);
  const file = join(folder, "app.log");
  const written = hinted(file);
  writeFileSync(file, "x\n");
  await written;
});
