/**
 * The search interface against an evaluation of the documents' JSON by what the documentation of Elasticsearch 6.5 says, without
 * any code of the engine: random documents of every kind of field, then random searches of them, also after changes, merges and
 * reopening. TAILRACE_SEED repeats a round; files of `oracle/` say what isn't expected and why.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startHub } from "#test/harness/hub.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { playRound } from "./oracle/round.ts";

/** Half of the time of the other suites: a round takes about a second, and the hub doesn't depend on time. */
const SHARE = 1 / 2;
const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 4) * 1_000 * SHARE;
/** Faults that are shown. */
const MAX_FAULTS = 5;

test("searches find, count and show what a plain reading of the documents says", async (context) => {
  const workspace = new Workspace(context);
  const hub = await startHub({ dataDir: workspace.path("data", "hub") });
  workspace.defer(() => hub.stop());
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  const faults: string[] = [];
  let [seed, searches] = [first, 0];
  for (; seed === first || (Date.now() < end && faults.length < MAX_FAULTS); seed++) {
    const outcome = await playRound(hub.searchUrl, seed).catch((error: unknown) => {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    });
    searches += outcome.searches;
    faults.push(...outcome.faults.map((fault) => `TAILRACE_SEED=${seed}: ${fault}`));
  }
  context.diagnostic(`${searches} searches in ${seed - first} rounds from seed ${first}`);
  assert.deepEqual(faults.slice(0, MAX_FAULTS), []);
});
