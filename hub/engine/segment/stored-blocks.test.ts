import assert from "node:assert/strict";
import { test } from "node:test";
import { type StoredBlock, StoredBlocks } from "./stored-blocks.ts";

function block(sizeBytes: number): StoredBlock {
  return { documents: new Uint8Array(sizeBytes), ends: new Uint32Array(0) };
}

test("blocks used last stay, the others make room", () => {
  const blocks = new StoredBlocks(300);
  const owner = {};
  const kept = block(75);
  blocks.put(owner, 0, kept);
  for (let number = 1; number <= 3; number++) blocks.put(owner, number, block(75));
  assert.equal(blocks.get(owner, 0), kept);
  blocks.put(owner, 4, block(75));
  assert.equal(blocks.get(owner, 0), kept);
  assert.equal(blocks.get(owner, 1), undefined);
  assert.equal(blocks.sizeBytes, 300);
});

test("a block that would push out the others isn't kept", () => {
  const blocks = new StoredBlocks(300);
  blocks.put({}, 0, block(76));
  assert.equal(blocks.sizeBytes, 0);
});

test("an owner that is gone leaves nothing", () => {
  const blocks = new StoredBlocks(300);
  const [gone, other] = [{}, {}];
  blocks.put(gone, 0, block(50));
  blocks.put(gone, 1, block(50));
  blocks.put(other, 0, block(50));
  blocks.drop(gone);
  assert.equal(blocks.sizeBytes, 50);
  assert.equal(blocks.get(gone, 0), undefined);
  assert.notEqual(blocks.get(other, 0), undefined);
});
