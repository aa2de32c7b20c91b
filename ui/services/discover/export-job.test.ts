import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_STATE } from "#ui/services/search/discover-state.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { ExportJob } from "./export-job.ts";

type Answer = () => Promise<Response>;

function jobOver(answer: Answer, saved: string[]): ExportJob {
  const request = {
    client: new SearchClient(answer),
    state: DEFAULT_STATE,
    range: { fromMs: 0, toMs: Date.UTC(2026, 0, 2, 3, 4) },
    format: "csv",
  } as const;
  return new ExportJob(
    request,
    () => undefined,
    (name) => saved.push(name),
  );
}

const oneLine: Answer = () =>
  Promise.resolve(
    new Response(
      JSON.stringify({
        took: 1,
        timed_out: false,
        hits: { total: 1, hits: [{ _index: "i", _id: "1", _source: { message: "a" } }] },
      }),
    ),
  );

test("a job that has ended says how many lines it wrote into which file", async () => {
  const saved: string[] = [];
  const job = jobOver(oneLine, saved);
  await job.run();
  assert.deepEqual(job.state, { name: "done", lines: 1, files: 1 });
  assert.deepEqual(saved, ["logs-2026-01-02-03-04.csv"]);
});

test("a job that fails says why and saves nothing; one that is cancelled says that", async () => {
  const saved: string[] = [];
  const failing = jobOver(() => Promise.resolve(new Response("{}", { status: 503 })), saved);
  await failing.run();
  assert.equal(failing.state.name, "failed");
  const cancelled = jobOver(oneLine, saved);
  cancelled.cancel();
  await cancelled.run();
  assert.deepEqual([cancelled.state.name, saved], ["cancelled", []]);
});
