/** What commands do whose output goes to `head -1`: its end of the pipe is closed before they have printed all. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "tailrace-closed-output-"));
after(() => rmSync(folder, { recursive: true }));

const COMMANDS: readonly (readonly string[])[] = [
  ["test/run.ts", "--verbose", "proto/kit/nearest.test.ts"],
  ["test/run-parallel.ts", "echo one", "seq 100000"],
  ["test/bench/run.ts"],
  ["test/fuzz/run.ts", "--help"],
  ["test/fault/run.ts", "--help"],
  ["deploy/capacity/main.ts", "--help"],
  ["deploy/docs/site.ts", folder],
  ["deploy/package/main.ts", "--help"],
  ["deploy/start/main.ts", "--help"],
  ["agent/main.ts", "--print-settings"],
  ["hub/main.ts", "--print-settings"],
  ["hub/main.ts", "pipeline", "plugins"],
];

for (const [script, ...args] of COMMANDS)
  test(`${[script, ...args.filter((each) => each !== folder)].join(" ")} ends well without a reader`, async () => {
    // A test's own process tells it to report in another form.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [join(ROOT, script!), ...args], {
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    const [errors, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
    assert.deepEqual([errors, status], ["", 0]);
  });

test("an agent that writes to standard output ends with its reader", async () => {
  const settings = join(folder, "agent.yml");
  const lines = [
    "shipper.inputs: [{type: stdin}]",
    "output.console.enabled: true",
    "status.enabled: false",
    `path.data: ${folder}/agent`,
  ];
  writeFileSync(settings, `${lines.join("\n")}\n`, { mode: 0o600 });
  const child = spawn(process.execPath, [join(ROOT, "agent/main.ts"), "-c", settings], { stdio: "pipe" });
  child.stdout.destroy();
  child.stdin.write("one\ntwo\n");
  const [log, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
  assert.equal(status, 0);
  assert.match(log, /the reader of the lines is gone; stopping/);
  assert.doesNotMatch(log, /EPIPE/);
});
