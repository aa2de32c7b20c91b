import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "#test/harness/random.ts";
import { type Interval, IntervalSet } from "./interval-set.ts";

const UNIVERSE = 60;

/** The same set as one flag per number. */
class NaiveSet {
  readonly flags = new Array<boolean>(UNIVERSE + 1).fill(false);

  add(from: number, to: number): void {
    for (let value = from; value < to; value++) this.flags[value] = true;
  }

  /** Runs of `wanted` flags within [from, to). */
  runs(wanted: boolean, from: number, to: number): Interval[] {
    const runs: Interval[] = [];
    for (let at = from; at < to; at++) {
      if (this.flags[at] !== wanted) continue;
      const start = at;
      while (at < to && this.flags[at] === wanted) at++;
      runs.push([start, at]);
    }
    return runs;
  }

  contiguousEnd(value: number): number {
    let at = value;
    while (this.flags[at]) at++;
    return at;
  }
}

test("ranges added in any order give the same set as a flag per number", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed);
    const below = (limit: number): number => Math.floor(random() * limit);
    const set = new IntervalSet();
    const naive = new NaiveSet();
    for (let step = 0; step < 25; step++) {
      const from = below(UNIVERSE);
      const to = Math.min(UNIVERSE, from + below(9));
      set.add(from, to);
      naive.add(from, to);
      const [low, high] = [below(UNIVERSE), below(UNIVERSE)].sort((a, b) => a - b) as [number, number];
      const where = `seed ${seed}, step ${step}`;
      assert.deepEqual(set.toArray(), naive.runs(true, 0, UNIVERSE), where);
      assert.deepEqual(set.missing(low, high), naive.runs(false, low, high), where);
      assert.equal(set.has(low), naive.flags[low], where);
      assert.equal(set.contiguousEnd(low), naive.contiguousEnd(low), where);
      assert.equal(set.size, set.toArray().length, where);
    }
  }
});

test("a file read in order has one range", () => {
  const set = new IntervalSet();
  for (let at = 0; at < 1_000; at += 10) set.add(at, at + 10);
  assert.deepEqual(set.toArray(), [[0, 1_000]]);
});

test("a range that fills the gap between two joins them", () => {
  const set = new IntervalSet([
    [0, 10],
    [20, 30],
  ]);
  set.add(10, 20);
  assert.deepEqual(set.toArray(), [[0, 30]]);
});

test("an empty range and one turned round change nothing", () => {
  const set = new IntervalSet([[5, 6]]);
  set.add(1, 1);
  set.add(9, 3);
  assert.deepEqual(set.toArray(), [[5, 6]]);
});

test("beyond the limit the lowest gap is closed and counted", () => {
  const set = new IntervalSet([], 2);
  set.add(0, 1);
  set.add(10, 11);
  assert.equal(set.closedGaps, 0);
  set.add(20, 21);
  assert.deepEqual(set.toArray(), [
    [0, 11],
    [20, 21],
  ]);
  assert.equal(set.closedGaps, 1);
});

test("offsets beyond 2^32 are exact", () => {
  const set = new IntervalSet([[2 ** 40, 2 ** 40 + 3]]);
  assert.equal(set.has(2 ** 40 + 2), true);
  assert.equal(set.has(2 ** 40 + 3), false);
});
