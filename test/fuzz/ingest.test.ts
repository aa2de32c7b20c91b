/**
 * Ingest pipelines against a plain evaluation by the documentation of Elasticsearch 6.5: random pipelines and documents, simulated
 * and indexed. TAILRACE_SEED repeats a round; files of `ingest/` say what isn't expected and why.
 */

import { test } from "node:test";
import { startHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { playRound } from "./ingest/round.ts";
import { playRounds } from "./rounds.ts";

/** A quarter of the time of the other suites: a round takes less than a tenth of a second. */
const SHARE = 1 / 4;

test("ingest pipelines make of documents what a plain reading of their processors says", async (context) => {
  const workspace = new Workspace(context);
  const hub = await startHub({ dataDir: workspace.path("data", "hub") });
  workspace.defer(() => hub.stop());
  await playRounds(context, {
    share: SHARE,
    things: "documents",
    play: async (seed) => {
      const { documents: count, fault } = await playRound(hub.searchUrl, seed);
      return { count, faults: fault === undefined ? [] : [fault] };
    },
  });
});
