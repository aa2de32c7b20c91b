import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MergeScheduler } from "./merge-scheduler.ts";

/** A shard with so many slices to do; writes its name for each. */
function shard(name: string, slices: number, done: string[]): { mergeStep(): boolean } {
  let left = slices;
  return {
    mergeStep() {
      if (left === 0) return false;
      if (left < 0) throw new Error(`${name} is damaged`);
      done.push(name);
      return --left > 0;
    },
  };
}

suite("turns of merges", () => {
  test("a shard's merge is ended before another one's begins", () => {
    const done: string[] = [];
    const shards = [shard("a", 3, done), shard("b", 0, done), shard("c", 2, done)];
    const turns = new MergeScheduler();
    const more = Array.from({ length: 5 }, () => turns.step(shards));
    assert.deepEqual(done, ["a", "a", "a", "c", "c"]);
    assert.deepEqual(more, [true, true, true, false, false]);
  });

  test("a shard whose merge fails passes its turn on", () => {
    const done: string[] = [];
    const shards = [shard("broken", -1, done), shard("b", 2, done)];
    const turns = new MergeScheduler();
    assert.throws(() => turns.step(shards), /broken is damaged/);
    assert.equal(turns.step(shards), true);
    assert.deepEqual(done, ["b"]);
  });

  test("without shards, and when the current one is removed, it starts from the first", () => {
    const done: string[] = [];
    const turns = new MergeScheduler();
    assert.equal(turns.step([]), false);
    assert.equal(turns.step([shard("gone", 5, done)]), true);
    assert.equal(turns.step([shard("a", 5, done)]), true);
    assert.deepEqual(done, ["gone", "a"]);
  });
});
