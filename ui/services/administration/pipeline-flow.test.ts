import assert from "node:assert/strict";
import { test } from "node:test";
import { PipelineFlow } from "./pipeline-flow.ts";

const pipeline = (count: number, out = count) => ({
  id: "shop",
  plugins: [{ pipeline: "shop", id: "a1", name: "grok", in: count, out, failures: 2, ms: 50 }],
});

test("the steps of a pipeline have rates once they were seen twice, and none where it began anew", () => {
  const flow = new PipelineFlow();
  flow.take([pipeline(100)], 1_000);
  assert.equal(flow.steps(pipeline(100))[0]!.perSecond, undefined);
  flow.take([pipeline(150, 140)], 3_000);
  assert.deepEqual(flow.steps(pipeline(150, 140)), [
    { name: "grok", count: 150, dropped: 10, failures: 2, perSecond: 25, eventMs: 50 / 150 },
  ]);
  flow.take([pipeline(3)], 4_000);
  assert.equal(flow.steps(pipeline(3))[0]!.perSecond, undefined);
});

test("a pipeline that tells nothing of its steps has none", () => {
  assert.deepEqual(new PipelineFlow().steps({ id: "x" }), []);
  const [step] = new PipelineFlow().steps({ plugins: [{ id: "a", in: "many" }] });
  assert.deepEqual([step!.name, step!.count, step!.eventMs], ["a", 0, undefined]);
});
