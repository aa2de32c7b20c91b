import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { niceOfThreads } from "#test/harness/processes.ts";

const SCRIPT = `
  import { readlinkSync } from "node:fs";
  import { parentPort } from "node:worker_threads";
  import { lowerThreadPriority } from ${JSON.stringify(new URL("./thread-priority.ts", import.meta.url).href)};
  lowerThreadPriority();
  parentPort.postMessage(readlinkSync("/proc/thread-self").split("/").at(-1));
  parentPort.on("message", () => undefined);
`;

test("a thread lowers its own priority, not that of the process or of its other threads", {
  skip: process.platform !== "linux" && "only Linux has a priority for each thread",
}, async (t) => {
  await readFile(import.meta.filename); // starts the threads for files
  const before = getPriority();
  const worker = new Worker(SCRIPT, { eval: true, execArgv: ["--input-type=module"] });
  t.after(() => worker.terminate());
  const [own] = (await once(worker, "message")) as [string];
  const nice = new Map(niceOfThreads(process.pid));
  assert.equal(nice.get(own), Math.min(19, before + 5));
  nice.delete(own);
  assert.ok(nice.size > 1);
  assert.deepEqual(new Set(nice.values()), new Set([before]));
  assert.equal(getPriority(), before);
});

test("the threads of V8 get a lower priority, and no other", {
  skip: process.platform !== "linux" && "only Linux has a priority for each thread",
}, async (t) => {
  const module = JSON.stringify(new URL("./thread-priority.ts", import.meta.url).href);
  const script = `import { lowerV8ThreadPriority } from ${module}; lowerV8ThreadPriority(); console.log("lowered"); setInterval(() => 0, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const before = getPriority();
  const lowered: string[] = [];
  for (const [thread, nice] of niceOfThreads(child.pid!)) {
    const name = readFileSync(`/proc/${child.pid}/task/${thread}/comm`, "utf8").trim();
    if (name === "V8Worker") lowered.push(thread);
    assert.equal(nice, name === "V8Worker" ? Math.min(19, before + 5) : before, name);
  }
  assert.ok(lowered.length > 0);
});
