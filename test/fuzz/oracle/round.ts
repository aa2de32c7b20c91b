/** A round: documents in an index, and random searches of them, before and after changes. */

import { CHECKS, type Check } from "./checks.ts";
import { Documents, MAPPING, randomShape, type Shape } from "./corpus.ts";
import { Dice } from "./dice.ts";
import type { Json } from "./documents.ts";
import type { Subject } from "./question.ts";
import { Refused, SearchedIndex } from "./searched-index.ts";

/** Searches between two changes of the documents. */
const SEARCHES = 25;
/** Changes of a round. */
const CHANGES_A_ROUND = 2;
/** Trees of random aggregations may have more buckets than an answer. */
const TOO_MANY_BUCKETS = "too_many_buckets_exception";

export interface Outcome {
  readonly searches: number;
  /** Each with the request that shows it. */
  readonly faults: readonly string[];
}

/** Plays the round of a seed; `checks`: what is asked. Rejects if the hub doesn't answer. */
export async function playRound(url: string, seed: number, checks = CHECKS): Promise<Outcome> {
  const dice = new Dice(seed);
  const shape = randomShape(dice);
  const names = dice.pick([["a"], ["a"], ["a", "b"]]).map((name) => `oracle-${seed}-${name}`);
  const index = new SearchedIndex(url, names, dice.pick([1, 1, 2, 3]));
  const documents = new Documents(dice, shape);
  const faults: string[] = [];
  let [searches, hasDeleted] = [0, false];
  await index.create(MAPPING);
  try {
    await writeAll(index, dice, documents, shape);
    for (const change of [undefined, ...dice.some(CHANGES, CHANGES_A_ROUND)]) {
      await change?.run(index, dice, documents);
      hasDeleted = change === undefined ? false : (change.leavesDeleted ?? hasDeleted);
      for (let at = 0; at < SEARCHES; at++, searches++) {
        const subject: Subject = { dice, items: index.items, shards: index.shards, hasDeleted };
        const [name, check] = dice.pick(checks);
        const fault = await faultOf(check, subject, index);
        if (fault !== undefined)
          faults.push(`${name} after ${change?.run.name ?? "writing"}, ${index.shards} shards: ${fault}`);
      }
    }
  } finally {
    await index.remove();
  }
  return { searches, faults };
}

async function faultOf(check: Check, subject: Subject, index: SearchedIndex): Promise<string | undefined> {
  try {
    return await check(subject, index);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.message.includes(TOO_MANY_BUCKETS) ? undefined : `refused: ${error.message}`;
  }
}

/** Each batch is a segment of each shard. */
async function writeAll(
  index: SearchedIndex,
  dice: Dice,
  documents: Documents,
  { documents: count }: Shape,
): Promise<void> {
  const batch = Math.ceil(count / dice.pick([1, 1, 2, 5]));
  for (let first = 0; first < count; first += batch) {
    const ids = Array.from({ length: Math.min(batch, count - first) }, (_, at) => String(first + at));
    await index.write(Object.fromEntries(ids.map((id) => [id, documents.next()])));
    await index.refresh();
  }
}

interface Change {
  readonly run: (index: SearchedIndex, dice: Dice, documents: Documents) => Promise<void>;
  /** Whether segments have deleted documents afterwards; undefined: as before. */
  readonly leavesDeleted?: boolean;
}

const CHANGES: readonly Change[] = [
  { run: remove, leavesDeleted: true },
  { run: replace, leavesDeleted: true },
  { run: update, leavesDeleted: true },
  { run: merge, leavesDeleted: false },
  { run: reopen },
];

function someIds(index: SearchedIndex, dice: Dice): string[] {
  const part = dice.pick([0.1, 0.1, 0.7]);
  return index.items.filter(() => dice.chance(part)).map(({ id }) => id);
}

async function remove(index: SearchedIndex, dice: Dice): Promise<void> {
  await index.delete(someIds(index, dice));
  await index.refresh();
}

async function replace(index: SearchedIndex, dice: Dice, documents: Documents): Promise<void> {
  await index.write(Object.fromEntries(someIds(index, dice).map((id) => [id, documents.next()])));
  await index.refresh();
}

async function update(index: SearchedIndex, dice: Dice): Promise<void> {
  const change = (): Json => ({
    k: `k${dice.below(8)}`,
    n: dice.chance(0.2) ? null : dice.below(60),
    d: dice.below(10) / 4,
  });
  await index.update(Object.fromEntries(someIds(index, dice).map((id) => [id, change()])));
  await index.refresh();
}

async function merge(index: SearchedIndex): Promise<void> {
  await index.mergeToOne();
}

async function reopen(index: SearchedIndex): Promise<void> {
  await index.reopen();
}
