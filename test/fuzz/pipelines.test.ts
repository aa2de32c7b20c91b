/**
 * Pipelines against a plain evaluation by what the documentation and sources of Logstash say: random configurations and events,
 * event by event and in messages. TAILRACE_SEED repeats a round; files of `pipelines/` say what isn't expected and why.
 */

import { test } from "node:test";
import { playRound } from "./pipelines/round.ts";
import { playRounds } from "./rounds.ts";

/** A quarter of the time of the other suites: a round takes milliseconds. */
const SHARE = 1 / 4;

test("pipelines make of events what a plain reading of the configuration says", async (context) => {
  await playRounds(context, {
    share: SHARE,
    things: "events",
    play: async (seed) => {
      const { events: count, fault } = await playRound(seed);
      return { count, faults: fault === undefined ? [] : [fault] };
    },
  });
});
