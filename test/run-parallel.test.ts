import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const PROGRAM = resolve(import.meta.dirname, "run-parallel.ts");

function run(...commands: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...commands], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("the output of commands is printed in their order, whichever ends first", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-beside-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  const seen = run(
    `mkfifo ${pipe}.x; echo first; cat ${pipe}.x; echo first again >&2`,
    `until [ -p ${pipe}.x ]; do :; done; echo second; echo let go > ${pipe}.x`,
  );
  assert.deepEqual(seen, { status: 0, stdout: "first\nlet go\nfirst again\nsecond\n", stderr: "" });
});

test("a command that fails is named at the end, and the others still run", () => {
  const { status, stdout } = run("echo broken; exit 3", "kill -9 $$", "echo fine");
  assert.equal(status, 1);
  assert.equal(stdout, "broken\nfine\n✖ failed (3): echo broken; exit 3\n✖ failed (SIGKILL): kill -9 $$\n");
});

test("a signal ends all processes that the commands started", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-beside-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  spawnSync("mkfifo", [pipe]);
  const started = new AbortController();
  const watcher = watch(folder, (_, name) => name === "started" && started.abort());
  t.after(() => watcher.close());
  const begun = once(started.signal, "abort");
  // The pipe is held open by the inner shell alone: its reader meets the end when that is gone.
  const reader = spawn("cat", [pipe], { stdio: "ignore" });
  t.after(() => reader.kill());
  const inner = `sh -c 'echo > ${folder}/started; sleep 60; :'`;
  const child = spawn(process.execPath, [PROGRAM, `${inner} > ${pipe} & wait`], { stdio: "ignore" });
  t.after(() => child.kill());
  await begun;
  const gone = Promise.all([once(reader, "exit"), once(child, "exit")]);
  child.kill("SIGTERM");
  assert.deepEqual(await gone, [
    [0, null],
    [null, "SIGTERM"],
  ]);
});
