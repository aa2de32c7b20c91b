import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";

/** Loaded first: what a sandbox without setpriority(2) does. */
const FORBID = `
  import os from "node:os";
  import { syncBuiltinESMExports } from "node:module";
  os.setPriority = () => { throw new Error("EPERM, not permitted"); };
  syncBuiltinESMExports();
`;

test("a hub whose threads can't get a lower priority says so, and what to do", {
  skip: process.platform !== "linux" && "only Linux has a priority for each thread",
}, async (t) => {
  const workspace = new Workspace(t);
  const forbid = `data:text/javascript,${encodeURIComponent(FORBID)}`;
  const args = [
    "--import",
    forbid,
    join(import.meta.dirname, "main.ts"),
    "run",
    "--path.data",
    workspace.path("data"),
  ];
  const hub = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  workspace.defer(() => hub.kill("SIGKILL") && once(hub, "exit"));
  const [line] = (await once(createInterface(hub.stderr), "line")) as [string];
  const { level, msg, err } = JSON.parse(line) as { level: string; msg: string; err: Error };
  assert.equal(level, "info", line);
  assert.match(msg, /SystemCallFilter=setpriority/);
  assert.equal(err.message, "EPERM, not permitted");
});
