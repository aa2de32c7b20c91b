import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { until } from "#test/harness/until.ts";
import { isAlive, startTicks } from "./running-process.ts";

test("a process is alive until it has ended", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  try {
    await once(child, "spawn");
    assert.equal(isAlive(child.pid!), true);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  assert.equal(isAlive(child.pid!), false);
});

test("a process of another user is alive", { skip: process.platform !== "linux" }, () => {
  assert.equal(isAlive(1), true);
});

test("the start of a process distinguishes it from others", { skip: process.platform !== "linux" }, () => {
  assert.match(startTicks(process.pid), /^\d+$/);
  assert.notEqual(startTicks(process.pid), startTicks(1));
  assert.equal(startTicks(2 ** 30), "");
});

test("a process that ended and wasn't reaped is not alive", {
  skip: process.platform !== "linux",
}, async () => {
  // The shell replaces itself, before its child ends, by a program that reaps nothing.
  const parent = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    await until("the end of the sleeper", () => !isAlive(pid));
    assert.doesNotThrow(() => process.kill(pid, 0));
  } finally {
    parent.kill("SIGKILL");
    await once(parent, "exit");
  }
});
