import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MIB } from "#proto/kit/units.ts";
import { type SearchedHeap, SearchMemory } from "./search-memory.ts";

/** A heap of which `live` bytes stay when it is collected. */
class FakeHeap implements SearchedHeap {
  used = 1_000;
  live = 1_000;
  collections = 0;
  awaited: (() => void)[] = [];
  readonly usedBytes = (): number => this.used;
  readonly collect = (): void => {
    this.collections++;
    this.used = this.live;
  };
  readonly takenBytes = (): number => this.used + 1_000;
  readonly release = (): void => this.collect();
  readonly later = (run: () => void): void => {
    this.awaited.push(run);
  };
}

suite("the memory of searches", () => {
  const heap = new FakeHeap();
  const memory = new SearchMemory(100, heap);
  const blocked = Promise.withResolvers<void>();
  const mustEnd = (usedMs: number, nowMs: number): boolean => {
    memory.tidy(nowMs);
    return memory.mustEnd(usedMs);
  };

  test("is what came into use since the first began", async () => {
    assert.equal(memory.heldBytes, 0);
    void memory.during(() => blocked.promise);
    await memory.during(() => {
      heap.used = heap.live = 1_050;
      assert.equal(memory.heldBytes, 50);
      assert.equal(mustEnd(9_000, 0), false);
    });
  });

  test("beyond the limit ends no search while it is garbage", () => {
    heap.used = 5_000;
    assert.equal(mustEnd(9_000, 1_000), false);
    assert.equal(heap.collections, 1);
    heap.used = 5_000;
    assert.equal(mustEnd(9_000, 1_010), false, "it was collected just now");
    assert.equal(heap.collections, 1);
  });

  test("is tight from half of the limit on", () => {
    assert.equal(memory.isTight, false);
    heap.live = 1_060;
    memory.tidy(1_600);
    assert.equal(memory.isTight, true);
  });

  test("beyond the limit ends one search where it is in use", () => {
    heap.used = heap.live = 1_200;
    assert.equal(mustEnd(9_000, 2_200), true);
    assert.equal(mustEnd(9_000, 2_210), false, "another one only after the next look");
    assert.equal(memory.ended, 1);
  });

  test("doesn't end a search that is alone and new: other things hold more than before", async () => {
    assert.equal(mustEnd(10, 3_000), false);
    assert.equal(memory.heldBytes, 0);
    blocked.resolve();
  });
});

test("garbage is collected before it amounts to much, however little is in use", async () => {
  const heap = new FakeHeap();
  const memory = new SearchMemory(1_000 * MIB, heap);
  await memory.during(() => {
    heap.used = 90 * MIB;
    memory.tidy(1_000);
    assert.equal(heap.collections, 0);
    heap.used = 100 * MIB;
    heap.live = 50 * MIB;
    memory.tidy(1_000);
    assert.equal(heap.collections, 1);
    heap.used = 150 * MIB;
    memory.tidy(1_900);
    assert.equal(heap.collections, 1, "not more than once a second");
    heap.used = 140 * MIB;
    memory.tidy(9_000);
    assert.equal(heap.collections, 1, "it counts from what the last collection left");
  });
});

test("garbage before the first search isn't what later ones may hold", async () => {
  const heap = new FakeHeap();
  heap.used = 500 * MIB;
  const memory = new SearchMemory(50 * MIB, heap);
  await memory.during(() => {
    heap.used = 600 * MIB;
    memory.tidy(1_000);
    heap.used = heap.live = 60 * MIB;
    memory.tidy(2_000);
    assert.equal(memory.mustEnd(9_000), true);
  });
});

test("what searches took is given back once none runs any more", async (context) => {
  let nowMs = 0;
  context.mock.method(performance, "now", () => nowMs);
  const heap = new FakeHeap();
  const memory = new SearchMemory(1_000 * MIB, heap);
  const search = (bytes: number): Promise<void> =>
    memory.during(() => {
      heap.used += bytes;
    });
  const wake = (atMs: number): void => {
    nowMs = atMs;
    for (const run of heap.awaited.splice(0)) run();
  };
  await search(10 * MIB);
  assert.equal(heap.awaited.length, 0, "it is little");
  await search(100 * MIB);
  nowMs = 3_000;
  await search(40 * MIB);
  assert.equal(heap.awaited.length, 1);
  wake(5_000);
  assert.equal(heap.collections, 0, "one ended 2 s ago");
  wake(10_000);
  assert.equal(heap.collections, 1);
  assert.equal(heap.awaited.length, 0);
  await search(10 * MIB);
  assert.equal(heap.awaited.length, 0, "it counts from there");
});

test("a search isn't ended for what another one held that has ended since", async () => {
  const heap = new FakeHeap();
  const memory = new SearchMemory(100, heap);
  await memory.during(() => {
    heap.used = heap.live = 2_000;
    memory.tidy(1_000);
    heap.used = heap.live = 1_050;
    assert.equal(memory.mustEnd(9_000), false);
  });
});
