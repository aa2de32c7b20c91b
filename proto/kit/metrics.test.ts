import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "./metrics.ts";

test("counters, gauges and histograms are printed with their help", async () => {
  const metrics = new Metrics();
  metrics.counter("tailrace_agent_lines_total", "lines read", ["input"]).inc({ input: "log" }, 3);
  metrics.gauge("tailrace_agent_files_open", "files open").set(2);
  metrics.histogram("tailrace_hub_commit_seconds", "commits").observe(0.02);
  const text = await metrics.text();
  assert.match(text, /^# HELP tailrace_agent_lines_total lines read$/m);
  assert.match(text, /^tailrace_agent_lines_total\{input="log"\} 3$/m);
  assert.match(text, /^tailrace_agent_files_open 2$/m);
  assert.match(text, /^tailrace_hub_commit_seconds_bucket\{le="0\.05"\} 1$/m);
});

test("a gauge can be measured when somebody asks", async () => {
  const metrics = new Metrics();
  let asked = 0;
  metrics.gauge("tailrace_hub_memory_bytes", "memory", [], (gauge) => gauge.set(++asked));
  assert.match(await metrics.text(), /^tailrace_hub_memory_bytes 1$/m);
  assert.match(await metrics.text(), /^tailrace_hub_memory_bytes 2$/m);
});

test("a counter can be raised when somebody asks", async () => {
  const metrics = new Metrics();
  metrics.counter("tailrace_hub_batches_total", "batches", ["kind"], (counter) =>
    counter.inc({ kind: "a" }, 2),
  );
  assert.match(await metrics.text(), /^tailrace_hub_batches_total\{kind="a"\} 2$/m);
  assert.match(await metrics.text(), /^tailrace_hub_batches_total\{kind="a"\} 4$/m);
});

test("two processes' metrics in one test stay apart", async () => {
  const [one, other] = [new Metrics(), new Metrics()];
  one.counter("tailrace_hub_batches_total", "batches").inc();
  assert.doesNotMatch(await other.text(), /batches/);
});

for (const [kind, name] of [
  ["counter", "tailrace_agent_lines"],
  ["counter", "agent_lines_total"],
  ["gauge", "tailrace_agent_lines_total"],
  ["gauge", "tailrace_Agent_files"],
  ["histogram", "tailrace_seconds"],
] as const) {
  test(`a ${kind} named ${name} is refused`, () => {
    assert.throws(() => new Metrics()[kind](name, "help"), /breaks the rule/);
  });
}
