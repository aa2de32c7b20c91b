import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PARTITIONS } from "#proto/subjects.ts";
import {
  NO_TABLE,
  nextTable,
  type PartitionTable,
  partitionsOf,
  type TableMember,
} from "./partition-table.ts";

const RUNS = 200;

describe("the table of partitions", () => {
  test("gives one hub everything, and two hubs a half each", () => {
    const [a, b] = [member("a"), member("b")];
    const alone = nextTable(NO_TABLE, [a], false);
    assert.equal(partitionsOf(alone, a).size, PARTITIONS);
    const both = nextTable(alone, [a, b], false);
    assert.equal(partitionsOf(both, a).size, PARTITIONS / 2);
    assert.equal(both.epoch, 2);
  });

  test("knows a hub that joined again by its new session only", () => {
    const table = nextTable(NO_TABLE, [member("a", "1")], false);
    assert.equal(partitionsOf(table, member("a", "2")).size, 0);
  });

  test("keeps all partitions together where a filter needs them, on the hub that has most", () => {
    const [a, b] = [member("a"), member("b")];
    const together = nextTable(nextTable(NO_TABLE, [b], false), [a, b], true);
    assert.equal(partitionsOf(together, b).size, PARTITIONS);
  });

  test("names no owner where there is no hub", () => {
    assert.deepEqual(new Set(nextTable(NO_TABLE, [], false).owners), new Set([-1]));
  });

  test("is even after any change of hubs, and moves no partition without need", () => {
    for (let seed = 1; seed <= RUNS; seed++) {
      const random = generator(seed);
      let table: PartitionTable = NO_TABLE;
      for (let change = 0; change < 6; change++) {
        const hubs = Array.from({ length: 9 }, (_, at) => member(`n${at}`)).filter(() => random() < 0.5);
        if (hubs.length === 0) continue;
        const next = nextTable(table, hubs, false);
        checkEven(next, hubs, seed);
        checkSticky(table, next, hubs, seed);
        table = next;
      }
    }
  });
});

function member(id: string, session = "1"): TableMember {
  return { id, session };
}

function checkEven(table: PartitionTable, hubs: readonly TableMember[], seed: number): void {
  const sizes = hubs.map((hub) => partitionsOf(table, hub).size);
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    PARTITIONS,
    `seed ${seed}`,
  );
  assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `seed ${seed}: ${sizes.join(" ")}`);
}

/** A hub that stays keeps as many of its partitions as its share allows. */
function checkSticky(
  before: PartitionTable,
  next: PartitionTable,
  hubs: readonly TableMember[],
  seed: number,
): void {
  for (const hub of hubs) {
    const [had, has] = [partitionsOf(before, hub), partitionsOf(next, hub)];
    assert.equal(had.intersection(has).size, Math.min(had.size, has.size), `seed ${seed}, ${hub.id}`);
  }
}

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
