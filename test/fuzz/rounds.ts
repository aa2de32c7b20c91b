/** Plays rounds of an oracle, each from a seed of its own, for a share of the time of the other suites. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { chooseSeed } from "#test/harness/random.ts";

const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 4) * 1_000;
/** Faults that are shown. */
const MAX_FAULTS = 5;

export interface Rounds {
  /** Share of the time; the first round is played in any case. */
  readonly share: number;
  /** Name of what a round compares, for the report. */
  readonly things: string;
  /** Plays a round; returns how many things it compared, and the differences. */
  readonly play: (seed: number) => Promise<{ readonly count: number; readonly faults: readonly string[] }>;
}

/** Fails with the first differences, each with the seed that repeats it. */
export async function playRounds(context: TestContext, { share, things, play }: Rounds): Promise<void> {
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS * share;
  const shown: string[] = [];
  let [seed, all] = [first, 0];
  for (; seed === first || (Date.now() < end && shown.length < MAX_FAULTS); seed++) {
    const { count, faults } = await play(seed).catch((error: unknown) => {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    });
    all += count;
    shown.push(...faults.map((fault) => `TAILRACE_SEED=${seed} ${fault}`));
  }
  context.diagnostic(`${all} ${things} in ${seed - first} rounds from seed ${first}`);
  assert.equal(shown.slice(0, MAX_FAULTS).join("\n\n"), "");
}
