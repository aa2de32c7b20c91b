import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { Random } from "#test/support/engine/random.ts";
import { appendZstd } from "./zstd-block.ts";

const random = new Random(1);

function letters(count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => 0x41 + random.below(26));
}

test("blocks of every size come back behind each other", () => {
  const out = new ByteBuffer();
  for (const size of [0, 1, 63, 4_000, 20_000, 40_000, 300_000]) {
    const raw = letters(size);
    const from = out.length;
    appendZstd(raw, out);
    assert.deepEqual(Uint8Array.from(zstdDecompressSync(out.view().subarray(from))), raw, `${size} bytes`);
  }
});

test("packing leaves no memory to the collector", () => {
  const raw = letters(100_000);
  const out = new ByteBuffer(raw.length);
  const before = process.memoryUsage().arrayBuffers;
  for (let block = 0; block < 100; block++) {
    out.clear();
    appendZstd(raw, out);
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 10 * raw.length);
});

test("memory that other buffers share stays", () => {
  const other = Buffer.from("stays");
  appendZstd(letters(2_000), new ByteBuffer());
  assert.equal(other.toString(), "stays");
  assert.ok(other.buffer.byteLength > 0);
});
