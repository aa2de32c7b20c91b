import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { Child } from "./child.ts";
import { cpuSeconds, findProcesses, residentBytes } from "./processes.ts";
import { flawless, SequenceLog, verify } from "./sequence-log.ts";
import { until, untilSteady } from "./until.ts";
import { Workspace } from "./workspace.ts";

const COUNT = 40;

function made(): string[] {
  return new SequenceLog("a").lines(COUNT).split("\n").slice(0, -1);
}

test("the verifier finds nothing wrong with lines of every shape", () => {
  assert.deepEqual(verify("a", COUNT, made(), true), flawless(COUNT));
});

for (const [what, harm, expected] of [
  ["a missing line", (lines: string[]) => lines.splice(3, 1), { found: COUNT - 1, missing: [3] }],
  ["a doubled line", (lines: string[]) => lines.push(lines[39]!), { found: COUNT + 1, doubled: [39] }],
  ["lines in another order", (lines: string[]) => lines.push(lines.splice(7, 1)[0]!), { reordered: [7] }],
] as const) {
  test(`the verifier finds ${what}`, () => {
    const lines = made();
    harm(lines);
    assert.deepEqual(verify("a", COUNT, lines, true), { ...flawless(COUNT), ...expected });
  });
}

test("the verifier finds a changed letter, a cut line and a line of two halves", () => {
  const lines = made();
  const whole = lines[5]!;
  for (const damaged of [
    whole.replace("[", "[x"),
    whole.slice(0, -8),
    whole.slice(0, 20) + lines[6]!.slice(-20),
  ]) {
    const verdict = verify("a", COUNT, [...lines.slice(0, 5), damaged, ...lines.slice(6)]);
    assert.deepEqual([verdict.missing, verdict.corrupt.length], [[5], 1]);
  }
});

test("another writer's lines are passed over", () => {
  assert.equal(verify("b", 0, made()).found, 0);
});

test("waiting ends when the condition holds, and ignores errors before that", async () => {
  let asked = 0;
  const answer = await until(
    "the third answer",
    () => {
      if (++asked < 3) throw new Error("not yet");
      return "here";
    },
    { everyMs: 1 },
  );
  assert.deepEqual([answer, asked], ["here", 3]);
});

test("a wait that times out names its condition and the last error", async () => {
  const never = (): never => {
    throw new Error("connection refused");
  };
  await assert.rejects(
    until("the hub", never, { deadlineMs: 5, everyMs: 1 }),
    /the hub.*last error connection refused/,
  );
});

test("a number is stable after enough equal readings", async () => {
  const values = [1, 2, 2, 5, 5, 5, 5];
  const last = await untilSteady("it", async () => values.shift() ?? 9, { times: 3, everyMs: 1 });
  assert.equal(last, 5);
});

test("a workspace closes its parts in reverse order and leaves no folder", async () => {
  const workspace = new Workspace();
  const ended: string[] = [];
  workspace.defer(() => ended.push("first"));
  workspace.defer(() => ended.push("second"));
  writeFileSync(workspace.path("deep", "file.txt"), "x");
  await workspace.close();
  assert.deepEqual(ended, ["second", "first"]);
  assert.equal(existsSync(workspace.folder), false);
});

function startScript(t: TestContext, script: string): { child: Child; logFile: string } {
  const workspace = new Workspace(t);
  const logFile = workspace.path("child.log");
  const child = new Child({ name: "child", command: process.execPath, args: ["-e", script], logFile });
  workspace.defer(() => child.end("SIGKILL"));
  return { child, logFile };
}

test("a child is ready with its line, is measured, and ends by signal", async (t) => {
  const { child, logFile } = startScript(
    t,
    `console.error("hello"); console.log(JSON.stringify({ ready: true, port: 7 })); setInterval(() => {}, 1e6)`,
  );
  assert.deepEqual(await child.ready(), { ready: true, port: 7 });
  assert.ok(findProcesses("port: 7").includes(child.pid));
  assert.ok(residentBytes(child.pid) > 10_000_000);
  assert.ok(cpuSeconds(child.pid) > 0 && cpuSeconds(child.pid) < 60);
  assert.equal(await child.end("SIGKILL"), "SIGKILL");
  await until("the child's words in its log", () => readFileSync(logFile, "utf8").includes("hello"));
});

test("CPU time is measured in nanoseconds where the kernel counts them", async (t) => {
  if (!existsSync("/proc/self/schedstat")) return t.skip("the kernel counts ticks only");
  // Not this process: of its threads some have ended, whose nanoseconds are gone.
  const { child } = startScript(t, `console.log('{"ready":true}'); setInterval(() => {}, 1e6)`);
  await child.ready();
  const ticks = cpuSeconds(child.pid) * 100;
  assert.ok(ticks % 1 > 0, `${ticks} ticks`);
});

test("a child that ends before it is ready fails with the end of its log", async (t) => {
  const { child } = startScript(t, `console.error("no such port"); process.exit(3)`);
  await assert.rejects(child.ready(), /status 3[\s\S]*no such port/);
  assert.equal(await child.ended, 3);
});
