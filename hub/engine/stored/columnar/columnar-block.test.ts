import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBuffer, ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import { openColumn } from "./column-reader.ts";
import { ColumnarBlock } from "./columnar-block.ts";
import { DICTIONARY } from "./value-kinds.ts";

const DAMAGED = { code: "data_corrupt" };
/** A block of one document, which is whole: `{}`. */
const BLOCK = Uint8Array.of(1, 0, 0, 0, 0, 2, 0x7b, 0x7d);

/** No room for anything, as where damage makes a document larger than memory. */
class FullBuffer extends ByteBuffer {
  override reserve(): void {
    throw new RangeError("Array buffer allocation failed");
  }
}

for (const [what, zigzag] of [
  ["below the first", 1],
  ["behind the last", 4],
] as const)
  test(`a number of a dictionary ${what} of its texts is damage`, () => {
    const texts = Buffer.from("a\nb\n");
    const column = openColumn(new ByteReader(Buffer.from([DICTIONARY, 2, ...texts, 0, 0, zigzag])), 1, []);
    const out = new ByteBuffer();
    assert.throws(() => column.append(0, out), DAMAGED);
    assert.equal(out.length, 0);
  });

test("a count that no list can have is damage", () => {
  const bytes = new ByteBuffer();
  bytes.varint(0);
  bytes.varint(2 ** 40);
  assert.throws(() => new ColumnarBlock(bytes.view()), DAMAGED);
});

for (const [what, before] of [
  ["shapes", [1]],
  ["pieces", [1, 1]],
] as const)
  test(`a count of ${what} beyond the bytes that are left is damage before anything is made of it`, (t) => {
    const bytes = new ByteBuffer();
    for (const byte of before) bytes.u8(byte);
    bytes.varint(10_000);
    bytes.u8(0);
    const reads = t.mock.method(ByteReader.prototype, "varint");
    assert.throws(() => new ColumnarBlock(bytes.view()), DAMAGED);
    assert.ok(reads.mock.callCount() < 10);
  });

test("whole documents beyond the bytes that are left are damage before any is made", (t) => {
  const bytes = new ByteBuffer();
  bytes.varint(10_000);
  for (const byte of [0, 0, 0, 0, 1, 0x7b]) bytes.u8(byte);
  const reads = t.mock.method(ByteReader.prototype, "varint");
  assert.throws(() => new ColumnarBlock(bytes.view()), DAMAGED);
  assert.ok(reads.mock.callCount() < 10);
});

test("a document that doesn't fit in memory is damage", () => {
  const block = new ColumnarBlock(BLOCK);
  assert.equal(Buffer.from(block.document(0)).toString(), "{}");
  assert.throws(() => block.append(0, new FullBuffer()), DAMAGED);
});
