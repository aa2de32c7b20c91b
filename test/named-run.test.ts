import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

/** Runs `npm run NAME -- ARGS` without npm. */
function command(name: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const script = join(import.meta.dirname, name, "run.ts");
  return spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
}

test("--help lists the tests, and why some run by name only", () => {
  const { status, stdout } = command("fault", "--help");
  assert.equal(status, 0);
  assert.match(stdout, /Usage: npm run fault /);
  assert.match(stdout, /^Names: agent, .*kill-schedule/m);
  assert.match(stdout, /^ {2}soak +minutes of steady load$/m);
  assert.doesNotMatch(stdout, /^Names:.*soak/m);
});

test("a wrong command line ends with status 2 and says what is right", () => {
  const wrong = [
    { args: ["engin3"], says: /there is no test "engin3".*engine.*there are api, engine/s },
    { args: ["--minutes", "0"], says: /--minutes 0: a number above 0 is needed/ },
    { args: ["--seed", "x"], says: /--seed x: a whole number is needed/ },
    { args: ["--sed", "1"], says: /Unknown option '--sed'.*npm run fuzz -- --help/s },
  ];
  for (const { args, says } of wrong) {
    const { status, stderr } = command("fuzz", ...args);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, says);
  }
});
