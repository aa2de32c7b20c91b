import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBytes } from "./free-bytes.ts";

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
