import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { freeBytes, largeBytes, recycleBytes } from "./large-bytes.ts";

const SIZE = 64 * 1024;

test("large bytes that cover their whole memory are freed immediately", () => {
  const before = process.memoryUsage().arrayBuffers;
  const bytes = Buffer.allocUnsafeSlow(64 * SIZE);
  assert.ok(process.memoryUsage().arrayBuffers >= before + 64 * SIZE);
  freeBytes(bytes);
  assert.equal(bytes.length, 0);
  assert.ok(process.memoryUsage().arrayBuffers < before + 64 * SIZE);
  freeBytes(bytes);
});

test("a part of other memory, shared memory and small bytes stay", () => {
  const part = Buffer.allocUnsafeSlow(2 * SIZE).subarray(SIZE);
  const shared = new Uint8Array(new SharedArrayBuffer(SIZE));
  const small = new Uint8Array(100);
  for (const bytes of [part, shared, small]) {
    const { length } = bytes;
    freeBytes(bytes);
    assert.equal(bytes.length, length);
  }
});

test("large memory is used again for about as many bytes, and nothing that had it can read them", () => {
  const first = largeBytes(10 * SIZE);
  first.fill(7);
  const part = first.subarray(SIZE);
  recycleBytes(first);
  assert.deepEqual([first.length, part.length], [0, 0]);
  assert.equal(largeBytes(20 * SIZE)[0] === 7, false, "it would be too small");
  assert.equal(largeBytes(SIZE)[0] === 7, false, "most of it would be wasted");
  const second = largeBytes(9 * SIZE);
  assert.ok(second.length >= 10 * SIZE);
  assert.equal(second[0], 7);
  assert.equal(largeBytes(9 * SIZE)[0] === 7, false, "it is taken");
});

test("a thread keeps few bytes, and not for long", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const all = Array.from({ length: 40 }, () => largeBytes(16 * SIZE));
  for (const each of all) recycleBytes(each);
  const kept = process.memoryUsage().arrayBuffers - before;
  assert.ok(kept > 0 && kept <= 128 * SIZE, `${kept}`);
  await setTimeout(5_000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * SIZE);
});
