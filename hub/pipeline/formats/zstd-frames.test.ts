import assert from "node:assert/strict";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { constants, createZstdDecompress, zstdCompressSync } from "node:zlib";
import { ZstdFrames, zstdFrames } from "./zstd-frames.ts";

const CHECKED = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const SKIPPED = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);
const random = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * at * 7919) % 251));

const FRAMES = [
  zstdCompressSync("hello "),
  zstdCompressSync(""),
  SKIPPED,
  zstdCompressSync(Buffer.alloc(300_000, "a"), CHECKED),
  zstdCompressSync(random),
  zstdCompressSync("world", CHECKED),
];

async function unpacked(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = [];
  await pipeline(chunks, zstdFrames, createZstdDecompress(), async (unpacking: AsyncIterable<Buffer>) => {
    for await (const chunk of unpacking) found.push(chunk);
  });
  return Buffer.concat(found);
}

async function* inParts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("data of zstd is cut after each frame", () => {
  assert.deepEqual([...new ZstdFrames().cut(Buffer.concat(FRAMES))], FRAMES);
});

test("all frames are unpacked, in whatever parts they come", async () => {
  const expected = Buffer.concat([
    Buffer.from("hello "),
    Buffer.alloc(300_000, "a"),
    random,
    Buffer.from("world"),
  ]);
  const whole = Buffer.concat(FRAMES);
  for (const size of [7, 4096, whole.length])
    assert.ok((await unpacked(inParts(whole, size))).equals(expected));
});

test("what is damaged behind the first frame is told", async () => {
  const cut = Buffer.concat([FRAMES[0]!, FRAMES[3]!.subarray(0, -3)]);
  await assert.rejects(unpacked(inParts(cut, 4096)));
  const garbage = Buffer.concat([FRAMES[0]!, Buffer.from("garbage")]);
  await assert.rejects(unpacked(inParts(garbage, 4096)));
});
