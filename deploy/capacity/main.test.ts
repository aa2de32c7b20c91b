import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

function run(...args: readonly string[]) {
  const main = join(import.meta.dirname, "main.ts");
  return spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
}

test("the help names the options with their defaults, which can be given as they stand", () => {
  const { status, stdout } = run("--help");
  assert.equal(status, 0);
  const defaults = [...stdout.matchAll(/^ {2}(--\S+) .*\((\S+)\)$/gm)].flatMap(([, name, usual]) => [
    name!,
    usual!,
  ]);
  assert.ok(defaults.includes("--stream-rate"), stdout);
  assert.equal(run(...defaults).stdout, run().stdout);
});

test("an option that doesn't exist is refused, and the help named", () => {
  const { status, stderr } = run("--monthly", "10TB");
  assert.deepEqual(
    [status, stderr],
    [2, "npm run capacity: Unknown option '--monthly'; --help lists the options\n"],
  );
});
