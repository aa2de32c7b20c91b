/**
 * Ingest pipelines against a plain evaluation by the documentation of Elasticsearch 6.5: random pipelines and documents, simulated
 * and indexed. TAILRACE_SEED repeats a round; files of `ingest/` say what isn't expected and why.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startHub } from "#test/harness/hub.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { playRound } from "./ingest/round.ts";

/** A quarter of the time of the other suites: a round takes less than a tenth of a second. */
const SHARE = 1 / 4;
const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 4) * 1_000 * SHARE;
/** Faults that are shown. */
const MAX_FAULTS = 5;

test("ingest pipelines make of documents what a plain reading of their processors says", async (context) => {
  const workspace = new Workspace(context);
  const hub = await startHub({ dataDir: workspace.path("data", "hub") });
  workspace.defer(() => hub.stop());
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  const faults: string[] = [];
  let [seed, documents] = [first, 0];
  for (; seed === first || (Date.now() < end && faults.length < MAX_FAULTS); seed++) {
    const outcome = await playRound(hub.searchUrl, seed).catch((error: unknown) => {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    });
    documents += outcome.documents;
    if (outcome.fault !== undefined) faults.push(`TAILRACE_SEED=${seed} ${outcome.fault}`);
  }
  context.diagnostic(`${documents} documents in ${seed - first} rounds from seed ${first}`);
  assert.equal(faults.join("\n\n"), "");
});
