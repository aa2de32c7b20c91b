import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { MemorySink, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import { openBlock, type StoredBuffer, StoredWriter } from "#hub/engine/stored/stored.ts";
import { testKernel } from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { KernelStored } from "./kernel-stored.ts";

const BLOCK_BYTES = 4096;

let kernel: Kernel;

before(async () => {
  kernel = await testKernel();
});

/** A text of `length` bytes that packs to about a half. */
function text(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => 97 + random.below(16)));
}

/** Documents one after another with bytes between them, as in a message. */
function runOf(documents: readonly Buffer[]) {
  const starts: number[] = [];
  let at = 0;
  for (const document of documents) {
    starts.push(at + 3);
    at += 3 + document.length;
  }
  return {
    bytes: Buffer.concat(documents.flatMap((document) => [Buffer.from("id="), document])),
    sourceStart: (index: number) => starts[index]!,
    sourceStop: (index: number) => starts[index]! + documents[index]!.length,
  };
}

function finished(stored: StoredBuffer): Buffer {
  const sink = new MemorySink();
  const { data, index } = stored.finish(new SegmentFileWriter(sink));
  assert.deepEqual([data[0], index[0]], [0, data[1]]);
  return Buffer.from(sink.buffer.view());
}

suite("stored bytes in the kernel are those of StoredWriter", () => {
  const cases: readonly [name: string, sizes: readonly number[]][] = [
    ["none", []],
    ["an empty one", [0]],
    ["many small ones", Array.from({ length: 3000 }, (_, at) => at % 60)],
    ["more than a block each", [5000, 4095, 4096, 4097, 1]],
    ["larger than the kernel's scratch", [10, 300_000, 20, 30]],
    ["larger than LZ4 takes", [10, 1_200_000, 20, 262_145, 30, 262_144]],
  ];
  for (const [name, sizes] of cases) {
    test(name, () => {
      const random = new Random(17);
      const documents = sizes.map((size) => text(random, size));
      const run = runOf(documents);
      const expected = new StoredWriter(BLOCK_BYTES, "lz4");
      expected.addRun(run, 0, documents.length);
      const used = kernel.memory.usedBytes;
      for (const inRuns of [true, false]) {
        const stored = new KernelStored(kernel, BLOCK_BYTES);
        if (inRuns) stored.addRun(run, 0, documents.length);
        else for (const document of documents) stored.add(document);
        for (const [doc, document] of documents.entries())
          if (doc % 37 === 0 || documents.length < 37)
            assert.ok(document.equals(stored.get(doc)), `document ${doc}`);
        if (!inRuns) assert.ok(finished(stored).equals(finished(expected)));
        stored.release();
      }
      // Scratch stays; what was held is given back.
      assert.ok(kernel.memory.usedBytes - used < 3_000_000);
    });
  }

  test("blocks that came packed stand between those of single documents", () => {
    const random = new Random(5);
    const documents = Array.from({ length: 100 }, (_, nth) => text(random, 37 * (nth % 9)));
    const run = runOf(documents);
    const packer = new KernelStored(kernel, BLOCK_BYTES);
    packer.addRun(run, 3, 90);
    const { blocks, offsets } = packer.blocks();
    const counts = Array.from(offsets, (at, nth) => openBlock(blocks.subarray(at, offsets[nth + 1])).count);
    assert.ok(counts.length > 2);
    const stored = new KernelStored(kernel, BLOCK_BYTES);
    const expected = new StoredWriter(BLOCK_BYTES, "lz4");
    for (const each of [stored, expected]) {
      each.addRun(run, 0, 3);
      for (const [nth, at] of offsets.entries())
        each.addPacked(blocks.subarray(at, offsets[nth + 1]), counts[nth]!);
      each.addRun(run, 90, documents.length);
    }
    for (const [doc, document] of documents.entries()) assert.ok(document.equals(stored.get(doc)), `${doc}`);
    assert.ok(finished(stored).equals(finished(expected)));
    packer.clear();
    packer.addRun(run, 3, 90);
    assert.ok(Buffer.from(packer.blocks().blocks).equals(Buffer.from(blocks)));
    packer.release();
    stored.release();
  });

  test("a document that was read stays as it is when others follow", () => {
    const random = new Random(3);
    const stored = new KernelStored(kernel, BLOCK_BYTES);
    const first = text(random, 100);
    stored.add(first);
    const read = stored.get(0);
    for (let count = 0; count < 100; count++) stored.add(text(random, 500));
    assert.ok(first.equals(read));
    assert.ok(first.equals(stored.get(0)));
    stored.release();
  });
});
