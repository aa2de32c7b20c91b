import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { type BenchmarkContext, keeps, measureCases, percentile, UsageError } from "./benchmark.ts";
import { runBenchmark } from "./command.ts";
import { fts5LinesPerCpuSecond, readLinesPerCpuSecond } from "./reference.ts";

test("a value meets its target or misses it", () => {
  assert.equal(keeps(150, { atMost: 150 }), true);
  assert.equal(keeps(151, { atMost: 150 }), false);
  assert.equal(keeps(54.9, { atLeast: 55 }), false);
});

test("a failing case is reported beside the results of the others", async (t) => {
  const context: BenchmarkContext = {
    workspace: new Workspace(t),
    scale: 1,
    docs: undefined,
    keep: undefined,
    only: "",
    with: "",
    progress: () => undefined,
  };
  const one = { case: "one", value: 1, unit: "x", reference: null };
  const cases = [
    { name: "two", measure: () => Promise.reject(new Error("did not come true")) },
    { name: "one", measure: () => Promise.resolve([one]) },
  ];
  const [failed, measured, ...more] = await measureCases(cases, context);
  assert.deepEqual([failed?.case, failed?.failure, measured, more], ["two", "did not come true", one, []]);
  assert.deepEqual(await measureCases(cases, { ...context, only: "on" }), [one]);
});

test("percentiles are values that were measured", () => {
  assert.equal(percentile([5, 1, 9, 3], 0.5), 3);
  assert.equal(percentile([5, 1, 9, 3], 0.99), 9);
  assert.equal(percentile([7], 0.5), 7);
});

test("the references measure the lines of a file", (t) => {
  const workspace = new Workspace(t);
  const file = workspace.path("a.log");
  writeFileSync(file, new SequenceLog("a").lines(5_000));
  assert.ok(fts5LinesPerCpuSecond(file, workspace.path("a.db")) > 1_000);
  assert.ok(readLinesPerCpuSecond(file) > 10_000);
});

test("without a name the benchmarks are listed; a wrong one is refused with the nearest", async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "run.ts"), "agnet"], {
    encoding: "utf8",
  });
  assert.equal(status, 2);
  assert.match(stderr, /^bench: there is no benchmark.*did you mean "agent"/);
  for (const [words, message] of [
    [["agent", "--nope"], /Unknown option '--nope'; see --help/],
    [["agent", "--docs", "many"], /--docs takes a number above 0, not "many"/],
    [["peers", "--with", "splunk=http://127.0.0.1:1"], /"splunk" isn't known.*; there are elasticsearch/],
  ] as const) {
    await assert.rejects(
      runBenchmark(words),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  }
  const write = t.mock.method(process.stdout, "write", () => true);
  const listing = runBenchmark([]);
  const [listed] = write.mock.calls.map(({ arguments: [text] }) => String(text));
  write.mock.restore();
  await listing;
  assert.match(listed!, /^ *e2e\s+file → searchable/m);
});
