import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SearchMemory } from "./search-memory.ts";

/** A heap of which `live` bytes stay when it is collected. */
class FakeHeap {
  used = 1_000;
  live = 1_000;
  collections = 0;
  readonly usedBytes = (): number => this.used;
  readonly collect = (): void => {
    this.collections++;
    this.used = this.live;
  };
}

suite("the memory of searches", () => {
  const heap = new FakeHeap();
  const memory = new SearchMemory(100, heap);
  const blocked = Promise.withResolvers<void>();

  test("is what came into use since the first began", async () => {
    assert.equal(memory.heldBytes, 0);
    void memory.during(() => blocked.promise);
    await memory.during(() => {
      heap.used = heap.live = 1_050;
      assert.equal(memory.heldBytes, 50);
      assert.equal(memory.mustEnd(9_000, 0), false);
    });
  });

  test("beyond the limit ends no search while it is garbage", () => {
    heap.used = 5_000;
    assert.equal(memory.mustEnd(9_000, 1_000), false);
    assert.equal(heap.collections, 1);
    heap.used = 5_000;
    assert.equal(memory.mustEnd(9_000, 1_010), false, "it was collected just now");
    assert.equal(heap.collections, 1);
  });

  test("beyond the limit ends a search where it is in use", () => {
    heap.used = heap.live = 1_200;
    assert.equal(memory.mustEnd(9_000, 2_000), true);
    assert.equal(memory.ended, 1);
  });

  test("doesn't end a search that is alone and new: other things hold more than before", async () => {
    assert.equal(memory.mustEnd(10, 3_000), false);
    assert.equal(memory.heldBytes, 0);
    blocked.resolve();
  });
});
