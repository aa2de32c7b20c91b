import assert from "node:assert/strict";
import { test } from "node:test";
import type { tailrace } from "#proto/messages.ts";
import { Repeats } from "./deduplication.ts";

interface Given {
  readonly incarnation?: number;
  readonly sequence: number;
  readonly range: readonly [from: number, to: number];
  /** Offsets of the events of this batch and the ordinal of the first. */
  readonly offsets: readonly number[];
  readonly firstOrdinal?: number;
}

function batch({ incarnation = 1, sequence, range }: Given): tailrace.IDocBatch {
  return {
    rawIncarnation: incarnation,
    rawPartition: 3,
    rawSequence: sequence,
    sources: [{ key: "agent/file/0", from: range[0], to: range[1] }],
  };
}

/** Applies batches and returns the offsets that were new, batch by batch. */
function fold(repeats: Repeats, batches: readonly Given[]): number[][] {
  return batches.map((given) => {
    const message = batch(given);
    const isNew = repeats.filter(message);
    const { offsets, firstOrdinal = 0 } = given;
    const operations = offsets.map((offset, index) => ({ offset, ordinal: firstOrdinal + index }));
    const taken = operations.filter(({ ordinal, offset }) => isNew(ordinal, 1, offset));
    repeats.take(message, operations.at(-1));
    return taken.map(({ offset }) => offset);
  });
}

const CASES: readonly [name: string, batches: readonly Given[], expected: readonly number[][]][] = [
  [
    "the same message again gives nothing",
    [
      { sequence: 1, range: [0, 20], offsets: [0, 10] },
      { sequence: 1, range: [0, 20], offsets: [0, 10] },
    ],
    [[0, 10], []],
  ],
  [
    "a second part of a message goes on behind the first",
    [
      { sequence: 1, range: [0, 40], offsets: [0, 10] },
      { sequence: 1, range: [0, 40], offsets: [20, 30], firstOrdinal: 2 },
    ],
    [
      [0, 10],
      [20, 30],
    ],
  ],
  [
    "the same bytes under a later sequence give only what is new",
    [
      { sequence: 1, range: [0, 20], offsets: [0, 10] },
      { sequence: 2, range: [10, 30], offsets: [10, 20] },
    ],
    [[0, 10], [20]],
  ],
  [
    "the same bytes after the log began a new life give nothing",
    [
      { sequence: 9, range: [0, 20], offsets: [0, 10] },
      { incarnation: 2, sequence: 1, range: [0, 20], offsets: [0, 10] },
    ],
    [[0, 10], []],
  ],
  [
    "what a lost log left out of a message is taken in the new life",
    [
      { sequence: 9, range: [0, 40], offsets: [0, 10] },
      { incarnation: 2, sequence: 1, range: [0, 40], offsets: [0, 10, 20, 30] },
    ],
    [
      [0, 10],
      [20, 30],
    ],
  ],
];

for (const [name, batches, expected] of CASES) {
  test(name, () => {
    assert.deepEqual(fold(new Repeats(), batches), expected);
  });
  test(`${name}, with a restart between the messages`, () => {
    let repeats = new Repeats();
    const taken = batches.flatMap((given) => {
      repeats = new Repeats(JSON.parse(JSON.stringify(repeats.state())) as ReturnType<Repeats["state"]>);
      return fold(repeats, [given]);
    });
    assert.deepEqual(taken, expected);
  });
}
