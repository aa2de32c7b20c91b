import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { freeBytes, largeBytes, recycleBytes } from "./large-bytes.ts";

const SIZE = 64 * 1024;

/** Returns the memory that is kept from now on, and not yet freed. The process's own count changes with each collection. */
function keptMemory(t: TestContext): ReadonlySet<ArrayBuffer> {
  const kept = new Set<ArrayBuffer>();
  const { value } = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "transfer")!;
  const transfer = value as (this: ArrayBuffer, length?: number) => ArrayBuffer;
  t.mock.method(ArrayBuffer.prototype, "transfer", function (this: ArrayBuffer, length?: number) {
    const moved = transfer.call(this, length);
    kept.delete(this);
    if (length !== 0) kept.add(moved);
    return moved;
  });
  return kept;
}

test("large bytes that cover their whole memory are freed immediately", (t) => {
  const kept = keptMemory(t);
  const bytes = Buffer.allocUnsafeSlow(64 * SIZE);
  const { buffer } = bytes;
  freeBytes(bytes);
  assert.deepEqual([bytes.length, buffer.byteLength, kept.size], [0, 0, 0]);
  freeBytes(bytes);
});

test("a part of other memory, shared memory, that of small buffers and small bytes stay", () => {
  const part = Buffer.allocUnsafeSlow(2 * SIZE).subarray(SIZE);
  const shared = new Uint8Array(new SharedArrayBuffer(SIZE));
  const ofSmallBuffers = new Uint8Array(Buffer.from("a text").buffer);
  const small = new Uint8Array(100);
  for (const bytes of [part, shared, ofSmallBuffers, small]) {
    const { length } = bytes;
    for (const free of [freeBytes, recycleBytes]) free(bytes);
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

test("two bodies and their answers are used again by the next two", (t) => {
  const sizes = [80, 40, 80, 40].map((times) => times * SIZE);
  for (const each of sizes.map(largeBytes)) recycleBytes(each);
  const made = t.mock.method(Buffer, "allocUnsafeSlow");
  const again = sizes.map(largeBytes);
  assert.equal(made.mock.callCount(), 0);
  for (const each of again) freeBytes(each);
});

test("a thread keeps few bytes, and not for long", async (t) => {
  const kept = keptMemory(t);
  const all = Array.from({ length: 40 }, () => largeBytes(16 * SIZE));
  for (const each of all) recycleBytes(each);
  assert.equal(kept.size, 16);
  assert.ok([...kept].every(({ byteLength }) => byteLength === 16 * SIZE));
  while (kept.size > 0) await setTimeout(50);
});
