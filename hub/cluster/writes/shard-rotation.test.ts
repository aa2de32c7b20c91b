import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB } from "#proto/kit/units.ts";
import { ShardTurns } from "./shard-rotation.ts";

test("one shard takes all for a while, then the one that got least", () => {
  const turns = new ShardTurns(() => 0);
  const taken = Array.from({ length: 60 }, () => turns.take("a", 3, 8 * MIB));
  for (let at = 0; at < taken.length; at += 4)
    assert.deepEqual(new Set(taken.slice(at, at + 4)).size, 1, `the turn at ${at} is one shard's`);
  for (const shard of [0, 1, 2]) assert.equal(taken.filter((each) => each === shard).length, 20);
});

test("a trickle is spread by time", () => {
  let now = 0;
  const turns = new ShardTurns(() => now);
  const taken: number[] = [];
  for (; now < 50_000; now += 500) taken.push(turns.take("a", 5, 100));
  for (const shard of [0, 1, 2, 3, 4]) assert.equal(taken.filter((each) => each === shard).length, 20);
  now = -3_600_000;
  assert.notEqual(turns.take("a", 5, 100), taken.at(-1), "a clock that was put back ends a turn");
});

test("bursts at the same distance don't meet the same shard each time", () => {
  let now = 0;
  const turns = new ShardTurns(() => now);
  const bytes = [0, 0];
  for (let burst = 0; burst < 40; burst++) {
    for (const size of [MIB, 1]) {
      bytes[turns.take("a", 2, size)]! += size;
      now += 5_000;
    }
  }
  assert.ok(Math.abs(bytes[0]! - bytes[1]!) <= 2 * MIB, bytes.join(" and "));
});

test("each index has turns of its own, however many there are", () => {
  const turns = new ShardTurns(() => 0);
  for (let index = 0; index < 1_000; index++) {
    const first = turns.take(`i${index}`, 5, 1);
    assert.ok(first >= 0 && first < 5);
    assert.equal(turns.take(`i${index}`, 5, 1), first);
  }
  assert.equal(turns.take("single", 1, 100 * MIB), 0);
});
