import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { roundTrip } from "#test/support/engine/round-trip.ts";
import { openPlain, packStored, StoredReader, StoredWriter } from "./stored.ts";
import { PlainBlock, type StoredBlock, StoredBlocks, storedBlocks } from "./stored-blocks.ts";

function block(sizeBytes: number): StoredBlock {
  return { count: 0, sizeBytes, document: () => new Uint8Array(0) };
}

test("the most recently used blocks are kept, the others are evicted", () => {
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

test("neighbouring blocks that are read once in a while stay, many in order don't", () => {
  const documents = Array.from({ length: 400 }, (_, doc) => Buffer.from(`${doc}:${"x".repeat(100)}`));
  const writer = new StoredWriter(1000, "lz4");
  for (const document of documents) writer.add(document);
  const [file, entry] = roundTrip((out) => writer.finish(out));
  const before = storedBlocks().sizeBytes;
  const some = new StoredReader(file, entry);
  for (const doc of [0, 15, 0, 15]) some.get(doc);
  const held = storedBlocks().sizeBytes - before;
  const all = new StoredReader(file, entry);
  for (const [doc, document] of documents.entries()) assert.deepEqual(Buffer.from(all.get(doc)), document);
  const heldOfAll = storedBlocks().sizeBytes - before - held;
  assert.ok(held >= 2000, `${held} bytes of two blocks`);
  assert.ok(heldOfAll < 10_000, `${heldOfAll} bytes of forty blocks`);
  some.close();
  all.close();
  assert.equal(storedBlocks().sizeBytes, before);
});

test("blocks that are unpacked one after another share the given memory, which freeing them keeps", () => {
  const room = new ByteBuffer(200_000);
  const memory = room.bytes;
  const opened = [70_000, 50_000].map((bytes, nth) => {
    const document = new Uint8Array(bytes).fill(65 + nth);
    const lengths = new ByteBuffer();
    lengths.varint(bytes);
    const plain = openPlain(packStored(lengths.view(), [document]), room);
    assert.deepEqual(plain.document(0), document);
    plain.free();
    return plain;
  });
  for (const { documents } of opened) assert.equal(documents.buffer, memory.buffer);
  assert.equal(memory.length, 200_000);
});

test("documents of any length are found in a block, also where its lengths are damaged", () => {
  const lengths = [0, 1, 127, 128, 129, 16_383, 16_384, 70_000, 5];
  const documents = lengths.map((bytes, nth) => new Uint8Array(bytes).fill(65 + nth));
  const varints = new ByteBuffer();
  for (const bytes of lengths) varints.varint(bytes);
  const plain = openPlain(packStored(varints.view(), documents));
  assert.equal(plain.count, lengths.length);
  for (const [nth, document] of documents.entries()) assert.deepEqual(plain.document(nth), document);
  // The last length continues behind the lengths: its first byte says that another follows.
  const raw = Uint8Array.of(2, 0, 0, 0, 1, 0x81, 0x02);
  assert.deepEqual(Array.from(new PlainBlock(raw).ends), [1, 1 + 257]);
});
