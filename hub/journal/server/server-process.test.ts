import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { silentLogger } from "#proto/kit/log.ts";
import { ServerProcess } from "./server-process.ts";

/** Starts a program while all descriptors of the process are in use, and prints why it isn't started. */
const SCRIPT = `
import { openSync } from "node:fs";
const { ServerProcess } = await import(process.argv[1]);
const log = { info() {}, warn() {}, error() {}, debug() {} };
const options = { program: "/bin/sleep", configFile: "1", env: process.env, log };
try { for (;;) openSync("/dev/null"); } catch {}
const child = new ServerProcess(options);
await child.listening("/", new AbortController().signal).catch(({ code }) => console.log("rejected:", code));
`;

test("a server that can't be started as the process has no descriptor left is one that failed", () => {
  const module = new URL("./server-process.ts", import.meta.url).href;
  const limited = 'ulimit -n 64 && exec "$0" --input-type=module -e "$1" "$2"';
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", limited, process.execPath, SCRIPT, module], {
    encoding: "utf8",
  });
  assert.match(stdout, /^rejected: EMFILE/, stderr);
});

test("a program that doesn't exist is reported, also to who waits for it later", async () => {
  const options = { program: "/nonexistent", configFile: "", env: {}, log: silentLogger() };
  const child = new ServerProcess(options);
  await turn(); // the event is over
  await assert.rejects(child.listening("/", new AbortController().signal), { code: "ENOENT" });
});
