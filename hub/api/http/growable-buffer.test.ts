import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingBytes } from "./growable-buffer.ts";

const CHUNK = 64 * 1024;
const chunkOf = (byte: number, length = CHUNK): Buffer => Buffer.allocUnsafeSlow(length).fill(byte);

for (const announced of [0, 20 * CHUNK, 30 * CHUNK, 3 * CHUNK, 2 ** 40]) {
  test(`chunks become one piece where ${announced} bytes were announced`, () => {
    const bytes = new GrowingBytes(announced);
    const chunks = Array.from({ length: 20 }, (_, number) => chunkOf(number));
    for (const chunk of chunks) bytes.take(chunk);
    assert.equal(bytes.length, 20 * CHUNK);
    assert.equal(bytes.view.length, 20 * CHUNK);
    for (let number = 0; number < 20; number++)
      assert.ok(bytes.view.subarray(number * CHUNK, (number + 1) * CHUNK).equals(chunkOf(number)));
    assert.equal(chunks.at(-1)!.length, 0, "its memory is free");
    assert.ok(bytes.view.buffer.byteLength <= Math.max(40 * CHUNK, Math.min(announced, 30 * CHUNK)));
  });
}

test("a body of one chunk is that chunk", () => {
  const chunk = chunkOf(1, 100);
  const bytes = new GrowingBytes(100);
  bytes.take(chunk);
  assert.equal(bytes.view.buffer, chunk.buffer);
  assert.equal(new GrowingBytes(5).view.length, 0);
});
