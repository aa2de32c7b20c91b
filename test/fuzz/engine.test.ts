/**
 * The engine and the search on top of it against a naive reading of the same documents, for as long as
 * TAILRACE_FUZZ_SECONDS says: random documents, changes, merges and restarts, then random questions. TAILRACE_SEED repeats
 * a run that failed.
 */

import { test } from "node:test";
import { chooseSeed } from "#test/harness/random.ts";
import { Random } from "#test/support/engine/random.ts";
import { check, checkSources, Held } from "./engine-checks.ts";
import { randomQuestion } from "./engine-queries.ts";
import { Subject } from "./engine-under-test.ts";

const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 2) * 1000;
const QUESTIONS = 25;

async function round(seed: number): Promise<void> {
  const random = new Random(seed);
  const subject = new Subject(random);
  // Now and then more documents than a column's block and a block of postings hold.
  const [messages, most] = random.oneIn(6) ? [8, 900] : [4 + random.below(20), 25];
  const ids = random.pick([60, 300, 6000]);
  let held: Held | undefined;
  try {
    for (let message = 0; message < messages; message++) {
      if (random.oneIn(3)) subject.append(random, most);
      else subject.change(random, most, ids);
      if (random.oneIn(6)) held ??= new Held(subject);
      if (random.oneIn(3)) subject.shard.refresh();
      if (random.oneIn(4)) subject.commit();
      if (random.oneIn(5)) await subject.merge(random);
      await held?.check(randomQuestion(random)).catch((error: unknown) => {
        throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
      });
      if (!random.oneIn(9)) continue;
      held?.close();
      held = undefined;
      subject.reopen();
    }
    if (random.oneIn(3)) await subject.damage(random);
    subject.shard.refresh();
    try {
      checkSources(subject);
    } catch (error) {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    }
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const question = randomQuestion(random);
      await check(subject, question, random).catch((error: unknown) => {
        throw new Error(`TAILRACE_SEED=${seed}: ${JSON.stringify(question.query)}`, { cause: error });
      });
    }
  } finally {
    held?.close();
    subject.end();
  }
}

test("for random documents, changes and queries the engine finds what a naive evaluation finds", async (context) => {
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  let rounds = 0;
  for (let seed = first; rounds === 0 || Date.now() < end; seed++, rounds++) await round(seed);
  context.diagnostic(`${rounds} rounds from seed ${first}`);
});
