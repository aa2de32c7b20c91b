import assert from "node:assert/strict";
import { test } from "node:test";
import { type NestedBlock, NestedCache } from "./nested-cache.ts";

function block(sizeBytes: number, released: number[]): NestedBlock {
  const [starts, parents] = [new Int32Array(0), new Int32Array(0)];
  return { objects: null, starts, parents, sizeBytes, release: () => released.push(sizeBytes) };
}

test("the blocks used longest ago are let go of beyond the limit", () => {
  const released: number[] = [];
  const cache = new NestedCache(100);
  const [one, two] = [{}, {}];
  cache.put(one, "a", block(40, released));
  cache.put(one, "b", block(50, released));
  assert.equal(cache.get(one, "a")?.sizeBytes, 40);
  cache.put(two, "a", block(45, released));
  assert.deepEqual(released, [50]);
  assert.equal(cache.sizeBytes, 85);
  cache.put(two, "b", block(500, released));
  assert.deepEqual(released, [50, 40, 45], "the newest stays whatever its size");
  cache.drop(two);
  assert.equal(cache.sizeBytes, 0);
  assert.equal(cache.get(two, "b"), undefined);
});
