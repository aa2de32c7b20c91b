/**
 * Pipelines against a plain evaluation by what the documentation and sources of Logstash say: random configurations and events,
 * event by event and in messages. TAILRACE_SEED repeats a round; files of `pipelines/` say what isn't expected and why.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseSeed } from "#test/harness/random.ts";
import { playRound } from "./pipelines/round.ts";

/** A quarter of the time of the other suites: a round takes milliseconds. */
const SHARE = 1 / 4;
const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 4) * 1_000 * SHARE;
/** Faults that are shown. */
const MAX_FAULTS = 5;

test("pipelines make of events what a plain reading of the configuration says", async (context) => {
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  const faults: string[] = [];
  let [seed, events] = [first, 0];
  for (; seed === first || (Date.now() < end && faults.length < MAX_FAULTS); seed++) {
    const outcome = await playRound(seed).catch((error: unknown) => {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    });
    events += outcome.events;
    if (outcome.fault !== undefined) faults.push(`TAILRACE_SEED=${seed} ${outcome.fault}`);
  }
  context.diagnostic(`${events} events in ${seed - first} rounds from seed ${first}`);
  assert.equal(faults.join("\n\n"), "");
});
