import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlannedOutput } from "#hub/pipeline/program/plan.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { type Logger, silentLogger } from "#proto/kit/log.ts";
import { OutputHost, type OutputReach } from "./output-host.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";

test("an output that fails to close holds up neither the others nor the end", async () => {
  const closed: string[] = [];
  const output = (id: string, stop: () => Promise<void>) =>
    ({
      pipeline: "main",
      output: { id, name: "file", makeWriter: () => ({ write: async () => ({ refused: [] }), stop }) },
    }) as unknown as PlannedOutput;
  const logged: string[] = [];
  const log = { ...silentLogger(), warn: ({ output: id }: { output: string }) => logged.push(id) };
  const host = new OutputHost({
    outputs: [
      output("full", () => Promise.reject(new Error("EDQUOT"))),
      output("other", async () => void closed.push("other")),
    ],
    reach: {} as OutputReach,
    log: log as unknown as Logger,
    clock: systemClock,
    metrics: {} as PipelineMetrics,
    signal: AbortSignal.abort(),
  });
  await host.stop();
  assert.deepEqual([closed, logged], [["other"], ["full"]]);
});
