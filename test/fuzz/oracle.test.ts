/**
 * The search interface against an evaluation of the documents' JSON by what the documentation of Elasticsearch 6.5 says, without
 * any code of the engine: random documents of every kind of field, then random searches of them, also after changes, merges and
 * reopening. TAILRACE_SEED repeats a round; files of `oracle/` say what isn't expected and why.
 */

import { test } from "node:test";
import { startHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { playRound } from "./oracle/round.ts";
import { playRounds } from "./rounds.ts";

/** Half of the time of the other suites: a round takes about a second, and the hub doesn't depend on time. */
const SHARE = 1 / 2;

test("searches find, count and show what a plain reading of the documents says", async (context) => {
  const workspace = new Workspace(context);
  const hub = await startHub({ dataDir: workspace.path("data", "hub") });
  workspace.defer(() => hub.stop());
  await playRounds(context, {
    share: SHARE,
    things: "searches",
    play: async (seed) => {
      const { searches: count, faults } = await playRound(hub.searchUrl, seed);
      return { count, faults };
    },
  });
});
