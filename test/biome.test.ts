import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "..");
const SOUND = "export const one = 1;\n";
const FAULTY = "export let one = 1\n";

test("changed files are checked, files that were found right are not, and faults are found again", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-biome-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "test"));
  for (const path of ["test/biome.ts", "biome.json", ".gitignore"])
    cpSync(join(ROOT, path), join(folder, path));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{\n  "type": "module"\n}\n');
  spawnSync("git", ["init", "-q"], { cwd: folder });
  const run = (text: string) => {
    writeFileSync(join(folder, "one.ts"), text);
    return spawnSync(process.execPath, ["test/biome.ts"], { cwd: folder, encoding: "utf8" });
  };
  const checked = ({ stdout }: ReturnType<typeof run>) => /Checked (\d+) file/.exec(stdout)?.[1];

  const all = run(SOUND);
  assert.deepEqual([all.status, checked(all)], [0, "4"], all.stdout + all.stderr);
  const none = run(SOUND);
  assert.deepEqual([none.status, checked(none)], [0, undefined]);
  const faulty = run(FAULTY);
  assert.deepEqual([faulty.status, checked(faulty)], [1, "1"]);
  assert.equal(run(FAULTY).status, 1);
});
