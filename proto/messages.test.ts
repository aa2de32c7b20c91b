import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBatch } from "./messages.ts";

test("64-bit fields are plain numbers, exact up to 2^53", () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const bytes = LogBatch.encode({ agentId: "a", block: { from: largest - 1, to: largest } }).finish();
  const { block } = LogBatch.decode(bytes);
  assert.deepEqual([block?.from, block?.to], [largest - 1, largest]);
});

test("raw bytes come back as they went in, valid UTF-8 or not", () => {
  const data = Uint8Array.from({ length: 256 }, (_, index) => index);
  const { block } = LogBatch.decode(LogBatch.encode({ block: { data } }).finish());
  assert.deepEqual(new Uint8Array(block?.data ?? []), data);
});

test("a message that ends too early is an error, not half a message", () => {
  const bytes = LogBatch.encode({ agentId: "a", block: { data: new Uint8Array(100) } }).finish();
  assert.throws(() => LogBatch.decode(bytes.subarray(0, bytes.length - 1)), RangeError);
});
