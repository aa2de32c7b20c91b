import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapKeeper, OWN_HEAP, type ThreadHeap } from "./thread-heap.ts";
import { MIB } from "./units.ts";

/** A heap of which `live` bytes stay when it is collected, and that keeps free memory until it is released. */
class FakeHeap implements ThreadHeap {
  used = 60 * MIB;
  live = 40 * MIB;
  taken = 100 * MIB;
  readonly done: string[] = [];
  readonly usedBytes = (): number => this.used;
  readonly takenBytes = (): number => this.taken;
  readonly collect = (): void => {
    this.done.push("collect");
    this.used = this.live;
  };
  readonly release = (): void => {
    this.done.push("release");
    this.used = this.taken = this.live;
  };
}

test("a busy thread collects what has grown by more than 128 MiB", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap);
  keeper.look(0.9);
  heap.used = 180 * MIB;
  keeper.look(0.9);
  assert.deepEqual(heap.done, []);
  heap.used = 200 * MIB;
  heap.live = 150 * MIB;
  keeper.look(0.9);
  heap.used = 270 * MIB;
  keeper.look(0.9);
  assert.deepEqual(heap.done, ["collect"], "it counts from what was in use then");
});

test("a thread gives back what it took once it is quiet, at first what the start took", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap);
  keeper.look(0.5);
  assert.deepEqual(heap.done, []);
  keeper.look(0.01);
  assert.deepEqual(heap.done, ["release"]);
  heap.taken += 60 * MIB;
  keeper.look(0.01);
  assert.deepEqual(heap.done, ["release"], "it is little");
  heap.taken += 60 * MIB;
  keeper.look(0.5);
  keeper.look(0.01);
  keeper.look(0.01);
  assert.deepEqual(heap.done, ["release", "release"]);
});

test("the memory of a thread includes what is outside of the heap", () => {
  const block = new Uint8Array(200 * MIB);
  assert.ok(OWN_HEAP.usedBytes() > block.length);
  assert.ok(OWN_HEAP.takenBytes() > block.length);
});
