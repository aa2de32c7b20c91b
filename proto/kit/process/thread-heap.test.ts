import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { MIB } from "#proto/kit/units.ts";
import { HeapKeeper, OWN_HEAP, type ThreadHeap } from "./thread-heap.ts";

/** A heap of which `live` bytes stay when it is collected, and that keeps free memory until it is released. */
class FakeHeap implements ThreadHeap {
  used = 60 * MIB;
  live = 40 * MIB;
  taken = 100 * MIB;
  readonly done: string[] = [];
  readonly usedBytes = (): number => this.used;
  readonly takenBytes = (): number => this.taken;
  /** Bytes of what is taken that a collection gives back. */
  free = 0;
  readonly collect = (): void => {
    this.done.push("collect");
    this.used = this.live;
    this.taken -= this.free;
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
  keeper.look(0.5, 2_000);
  assert.deepEqual(heap.done, []);
  keeper.look(0.01, 4_000);
  assert.deepEqual(heap.done, ["release"]);
  heap.taken += 120 * MIB;
  keeper.look(0.01, 70_000);
  assert.deepEqual(heap.done, ["release"], "it is little");
  heap.taken += 20 * MIB;
  heap.free = 100 * MIB;
  keeper.look(0.5, 72_000);
  keeper.look(0.01, 74_000);
  assert.deepEqual(heap.done, ["release", "collect"], "a collection is enough");
  heap.taken += 200 * MIB;
  keeper.look(0.01, 76_000);
  assert.deepEqual(heap.done, ["release", "collect"], "it did so just now");
  heap.free = 10 * MIB;
  keeper.look(0.01, 140_000);
  assert.deepEqual(heap.done, ["release", "collect", "collect", "release"]);
});

test("a thread at rest gives back less growth as well", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap);
  let nowMs = 0;
  const look = (load: number, times: number): void => {
    for (let done = 0; done < times; done++) keeper.look(load, (nowMs += 2_000));
  };
  look(0.01, 1);
  heap.done.length = 0;
  heap.taken += 20 * MIB;
  look(0.05, 60);
  assert.deepEqual(heap.done, [], "it works a little");
  look(0.01, 14);
  look(0.05, 1);
  look(0.01, 14);
  assert.deepEqual(heap.done, ["collect"], "it rests for 28 s");
  heap.done.length = 0;
  look(0.01, 1);
  assert.deepEqual(heap.done, ["collect", "release"]);
  look(0.01, 60);
  assert.deepEqual(heap.done, ["collect", "release"], "nothing has grown since");
});

test("a thread that leaves collections to V8 is blocked only at rest", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap, false);
  let nowMs = 0;
  const look = (load: number, times: number): void => {
    for (let done = 0; done < times; done++) keeper.look(load, (nowMs += 2_000));
  };
  heap.taken = 900 * MIB;
  look(0.06, 100);
  assert.deepEqual(heap.done, []);
  look(0.01, 2);
  assert.deepEqual(heap.done, []);
  look(0.01, 13);
  assert.deepEqual(heap.done, ["collect", "release"]);
});

test("a short rest collects what the work before it left, every 20 s at most", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap, false);
  let nowMs = 0;
  const look = (load: number, times: number): string => {
    heap.done.length = 0;
    for (let done = 0; done < times; done++) keeper.look(load, (nowMs += 2_000));
    return heap.done.join();
  };
  heap.free = 60 * MIB;
  assert.equal(look(0.01, 2), "");
  assert.equal(look(0.01, 10), "collect", "what the start left");
  const burst = (): string => {
    heap.taken += 80 * MIB;
    return look(0.9, 2) + look(0.01, 4);
  };
  assert.deepEqual(Array.from({ length: 4 }, burst), ["collect", "", "collect", ""]);
  assert.equal(look(0.9, 60) + look(0.01, 14), "collect", "80 MiB wait since the last burst");
  heap.taken += 15 * MIB;
  assert.equal(look(0.9, 60) + look(0.01, 14), "", "it is little");
});

/** Returns what is done after the thread blocked without running, as one that waits for a CPU does, and `idle` passed. */
async function afterBlocking(
  context: TestContext,
  blockedMs: number,
  idle: () => Promise<unknown> = async () => undefined,
): Promise<string> {
  await nextTurn(); // from here on the event loop runs
  context.mock.timers.enable({ apis: ["setInterval"] });
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap);
  keeper.start();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs);
  await idle();
  context.mock.timers.tick(2_000);
  keeper.stop();
  return heap.done.join();
}

test("a thread that waits for a CPU is at rest if it does nothing", async (context) => {
  assert.equal(await afterBlocking(context, 150, () => delay(600)), "release", "it is quiet");
});

test("a thread that waits for a CPU with work to do isn't at rest", async (context) => {
  assert.equal(await afterBlocking(context, 300), "");
});

test("what only giving back can free is counted until it is given back", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap);
  let nowMs = 0;
  const look = (load: number, times: number): void => {
    for (let done = 0; done < times; done++) keeper.look(load, (nowMs += 2_000));
  };
  look(0.01, 1);
  for (let round = 0; round < 3; round++) {
    heap.done.length = 0;
    heap.taken += 140 * MIB; // of which a collection frees 60
    heap.free = 60 * MIB;
    look(0.06, 31);
    if (heap.done.includes("release")) return;
    assert.deepEqual(heap.done, ["collect"]);
    heap.free = 0;
  }
  assert.fail("80 MiB a round were never given back");
});

test("a thread that gives back little in vain waits longer for the next time", () => {
  const heap = new FakeHeap();
  const keeper = new HeapKeeper(heap, false);
  let nowMs = 0;
  const releasesIn = (minutes: number): number => {
    heap.done.length = 0;
    for (let done = 0; done < 30 * minutes; done++) {
      heap.live = heap.taken;
      heap.taken += MIB;
      keeper.look(0.01, (nowMs += 2_000));
    }
    return heap.done.length;
  };
  releasesIn(2);
  assert.ok(releasesIn(60) <= 14, `${heap.done.join()}: each kind six times or seven`);
});

test("the memory of a thread includes what is outside of the heap", () => {
  const block = new Uint8Array(200 * MIB);
  assert.ok(OWN_HEAP.usedBytes() > block.length);
  assert.ok(OWN_HEAP.takenBytes() > block.length);
});
