import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "./harness/until.ts";

/** Elsewhere no process is found by its environment. */
const HAS_PROC = existsSync("/proc/self/environ");

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-run-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs a file with the given text. */
function runText(
  t: TestContext,
  text: string,
  ...flags: string[]
): { status: number | null; stdout: string } {
  const file = join(temporary(t), "planted.test.ts");
  writeFileSync(file, `import { test } from "node:test";\n${text}`);
  const program = resolve(import.meta.dirname, "run.ts");
  return spawnSync(process.execPath, [...flags, program, "--timeout", "2s", file], { encoding: "utf8" });
}

test("the flags of the caller are those of the tests too", (t) => {
  const text = `test("gc", () => globalThis.gc());`;
  assert.equal(runText(t, text, "--expose-gc").status, 0);
  assert.equal(runText(t, text).status, 1);
});

test("errors that nobody caught are failures, also those after their test's end and in promises", (t) => {
  const { status, stdout } = runText(
    t,
    `const pause = () => new Promise((done) => setTimeout(done, 30));
    test("throws late", () => void setTimeout(() => { throw new Error("late"); }, 10));
    test("waits", pause);
    test("rejects", async () => { await pause(); void Promise.reject(new Error("rejected")); await pause(); });
    test("fails in a callback", () => new Promise(() => setTimeout(() => { throw new Error("called"); }, 1)));`,
  );
  assert.equal(status, 1);
  for (const [last, message] of [
    ["(?:throws late|waits)", "late"],
    ["rejects", "rejected"],
    ["fails in a callback", "called"],
  ])
    assert.match(
      stdout,
      new RegExp(`nobody caught an error, in "${last}" or before: Error: ${message}\n +at `),
    );
});

test("a file that throws while it loads is a failure, also after its first test", (t) => {
  const { status, stdout } = runText(t, `test("passes", () => undefined);\nthrow new Error("half loaded");`);
  assert.equal(status, 1);
  assert.match(stdout, /planted\.test\.ts failed while it loaded: Error: half loaded\n +at /);
  assert.match(stdout, /# pass 1\n# fail 1\n/);
});

test("a file that throws before its first test is one failure", (t) => {
  const { status, stdout } = runText(t, `throw new Error("not loaded");`);
  assert.equal(status, 1);
  assert.match(stdout, /Error: not loaded/);
  assert.match(stdout, /# pass 0\n# fail 1\n/);
});

for (const hook of ["before", "after"])
  test(`a failing ${hook} of a whole file is a failure`, (t) => {
    const { status, stdout } = runText(
      t,
      `import { ${hook} } from "node:test";
      ${hook}(() => { throw new Error("hooked"); });
      test("passes", () => undefined);`,
    );
    assert.equal(status, 1);
    assert.match(stdout, /Error: hooked/);
    assert.match(stdout, /# tests 1\n/);
    assert.match(stdout, /# fail 1\n/);
  });

for (const [what, handler] of [
  ["an error in a handler of the exit", `() => { throw new Error("late"); }`],
  ["another exit status", "() => { process.exitCode = 1; }"],
] as const)
  test(`${what} is a failure, though all tests have passed`, (t) => {
    const { status, stdout } = runText(
      t,
      `test("passes", () => undefined);\nprocess.on("exit", ${handler});`,
    );
    assert.equal(status, 1);
    assert.match(stdout, /planted\.test\.ts: its process ended with 1 after its last test\n/);
    assert.match(stdout, /# pass 1\n# fail 1\n/);
  });

test("no suite waits before it names its tests, which would then belong to no suite", () => {
  const waits = /\b(?:suite|describe)(?:\.\w+)?\([^;{]*\basync\b/;
  const root = resolve(import.meta.dirname, "..");
  const files = globSync("{proto,agent,hub,ui,deploy,test}/**/*.test.ts", { cwd: root });
  assert.ok(files.length > 100);
  assert.deepEqual(
    files.filter((file) => waits.test(readFileSync(join(root, file), "utf8"))),
    [],
  );
});

/** Returns a test's text that starts a process as a hub starts its server, in a group of its own, and writes its pid to a file. */
function starting(pidFile: string): string {
  return `import { spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    const left = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    left.unref();
    writeFileSync(${JSON.stringify(pidFile)}, String(left.pid));`;
}

function isRunning(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(readStatus(pid));
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

for (const [what, text, fault] of [
  ["passes", `test("passes", () => undefined);`, "its tests left running: sleep 600"],
  [
    "is killed",
    `test("dies", () => process.kill(process.pid, "SIGKILL"));`,
    "its process ended early (SIGKILL)",
  ],
] as const)
  test(`a process that is left running by a file that ${what} is ended, and a failure`, {
    skip: !HAS_PROC,
  }, (t) => {
    const pidFile = join(temporary(t), "pid");
    const { status, stdout } = runText(t, `${starting(pidFile)}\n${text}`);
    assert.equal(status, 1);
    assert.ok(stdout.includes(fault), stdout);
    assert.equal(isRunning(Number(readFileSync(pidFile, "utf8"))), false);
  });

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(`a run that ends by ${signal} leaves nothing running`, { skip: !HAS_PROC }, async (t) => {
    const folder = temporary(t);
    const file = join(folder, "planted.test.ts");
    const pidFile = join(folder, "pid");
    const waits = `test("waits", () => new Promise((done) => setTimeout(done, 60_000)));`;
    writeFileSync(file, `import { test } from "node:test";\n${starting(pidFile)}\n${waits}`);
    const program = resolve(import.meta.dirname, "run.ts");
    const run = spawn(process.execPath, [program, file], { stdio: "ignore" });
    await until("the process", async () => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
    const pid = Number(readFileSync(pidFile, "utf8"));
    assert.equal(isRunning(pid), true);
    run.kill(signal);
    await until("its end", async () => !isRunning(pid));
  });
