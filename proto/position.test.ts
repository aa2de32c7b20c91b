import assert from "node:assert/strict";
import { test } from "node:test";
import { comparePositions, laterOf, type Position, START } from "./position.ts";

const ascending: readonly Position[] = [
  START,
  { incarnation: 1, sequence: 0 },
  { incarnation: 1, sequence: 9 },
  { incarnation: 2, sequence: 3 },
  { incarnation: 10, sequence: 1 },
];

test("positions of a newer incarnation are after all of an older one", () => {
  const shuffled = [ascending[3]!, ascending[1]!, ascending[4]!, ascending[0]!, ascending[2]!];
  assert.deepEqual(shuffled.sort(comparePositions), ascending);
});

test("equal positions compare as 0", () => {
  assert.equal(comparePositions({ incarnation: 3, sequence: 4 }, { incarnation: 3, sequence: 4 }), 0);
});

test("the later of two positions is of the newer incarnation", () => {
  assert.deepEqual(laterOf(ascending[3]!, ascending[2]!), ascending[3]);
  assert.deepEqual(laterOf(ascending[2]!, ascending[3]!), ascending[3]);
});
