import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { KernelFields } from "#hub/engine/buffer/kernel-fields.ts";
import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { kernelIndexing } from "#hub/engine/documents/kernel-documents.ts";
import { packGroup, unpackGroup } from "#hub/engine/encoding/bit-packing.ts";
import { crc32cHere } from "#hub/engine/encoding/crc32c.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { packLz4, unpackLz4 } from "#test/oracles/engine/lz4.ts";
import { unpackAscending } from "#test/oracles/engine/unpack-ascending.ts";
import { randomText, sealed, testKernel } from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { apply, INDEX, operation, testMapping, withFolder } from "#test/support/engine/shard.ts";
import { Shard } from "../shard.ts";
import { BUFFER_BYTES, GROUP } from "./assembly/layout.ts";
import { Kernel, restThreadKernel, threadKernel, threadKernelBytes } from "./kernel.ts";
import { KernelMemory } from "./memory.ts";

let kernel: Kernel;

before(async () => {
  kernel = await testKernel();
});

suite("the kernel's codecs give what their oracles give", () => {
  test("CRC-32C of all lengths, going on from another", () => {
    const random = new Random(5);
    const bytes = Uint8Array.from({ length: 5000 }, () => random.below(256));
    for (const length of [0, 1, 15, 16, 17, 255, 4096, 4999]) {
      for (const from of [0, 1]) {
        const crc = random.below(2 ** 32);
        assert.equal(
          kernel.crc32c(bytes, from, from + length, crc),
          crc32cHere(bytes, from, from + length, crc),
        );
      }
    }
  });

  /** What the kernel makes of a block, null of a damaged one; after as many bytes that must stay. */
  function unpacked(packed: Uint8Array, size: number): Buffer | null {
    const out = Buffer.alloc(size + 3);
    const isWhole = kernel.unpackLz4To(packed, size, out, 3);
    assert.deepEqual([...out.subarray(0, 3)], [0, 0, 0]);
    return isWhole ? out.subarray(3) : null;
  }

  test("LZ4 blocks of all kinds of bytes", () => {
    const random = new Random(8);
    const noise = Uint8Array.from({ length: 70_000 }, () => random.below(256));
    const texts = ["", "a", "abcabcabcabc", "abcabcabcabcabcab", "x".repeat(300), "x".repeat(200_000)];
    const inputs = [...texts.map((text) => Buffer.from(text)), noise, noise.subarray(0, 13)];
    for (let count = 0; count < 200; count++) {
      const text = Array.from({ length: 1 + random.below(40) }, () => randomText(random)).join("\n");
      inputs.push(Buffer.from(text));
    }
    // A match at the largest distance, and one that lies just beyond it.
    for (const gap of [65_531, 65_532])
      inputs.push(
        Buffer.concat([Buffer.from("once"), noise.subarray(0, gap), Buffer.from("once upon a time")]),
      );
    for (const input of inputs) {
      const packed = kernel.packLz4(input).slice();
      assert.deepEqual(Buffer.from(packed), Buffer.from(packLz4(input)));
      assert.deepEqual(unpacked(packed, input.length), Buffer.from(input));
      assert.deepEqual(Buffer.from(unpackLz4(packed, input.length)!), Buffer.from(input));
    }
  });

  test("damaged LZ4 blocks are refused, or give as many bytes as requested", () => {
    const random = new Random(9);
    for (let count = 0; count < 2000; count++) {
      const input = Buffer.from(randomText(random, 30));
      const packed = Buffer.from(packLz4(input));
      for (let change = random.below(4); change >= 0; change--)
        packed[random.below(packed.length)] = random.below(256);
      const cut = packed.subarray(0, packed.length - random.below(3));
      const size = input.length + random.below(3) - 1;
      if (size < 0) continue;
      const theirs = unpackLz4(cut, size);
      assert.deepEqual(unpacked(cut, size), theirs && Buffer.from(theirs));
    }
  });

  test("groups of all widths are packed and unpacked", () => {
    const random = new Random(6);
    for (let bits = 0; bits <= 32; bits++) {
      const values = Uint32Array.from({ length: GROUP }, () => random.below(2 ** bits));
      const expected = new ByteBuffer();
      packGroup(values, 0, bits, expected);
      const at = kernel.memory.allocate(1024);
      kernel.memory.words.set(values, at / 4);
      const end = kernel.functions.packGroup(at, bits, at + 512) >>> 0;
      assert.deepEqual(kernel.memory.bytes.slice(at + 512, end), expected.view(), `${bits} bits`);
      kernel.memory.release(at, 1024);
      const ours = new Int32Array(GROUP);
      const theirs = new Int32Array(GROUP);
      kernel.unpackGroup(expected.view(), 0, bits, ours, 0);
      unpackGroup(expected.view(), 0, bits, theirs, 0);
      assert.deepEqual(ours, theirs, `${bits} bits`);
      kernel.unpackDocs(expected.view(), 0, bits, 41, ours);
      unpackAscending(expected.view(), 0, bits, 41, theirs);
      assert.deepEqual(ours, theirs, `${bits} bits, ascending`);
    }
  });
});

test("without kernel.wasm the error names the remedy", () => {
  assert.throws(() => Kernel.load(2 ** 20, new URL("./no-kernel.wasm", import.meta.url)), {
    code: "unavailable",
    message: /no-kernel\.wasm.* run npm run build/,
  });
});

suite("the kernel's memory", () => {
  test("blocks don't overlap, and join again when they are given back", () => {
    const memory = new KernelMemory(2 ** 26);
    const random = new Random(8);
    const blocks = new Map<number, number>();
    for (let step = 0; step < 3000; step++) {
      if (blocks.size > 40 || (blocks.size > 0 && random.oneIn(3))) {
        const address = random.pick([...blocks.keys()]);
        memory.release(address, blocks.get(address)!);
        blocks.delete(address);
      } else {
        const size = 1 + random.below(random.oneIn(10) ? 300_000 : 5000);
        const address = memory.allocate(size);
        for (const [other, otherSize] of blocks) {
          assert.ok(address + size <= other || other + otherSize <= address, `${address} overlaps ${other}`);
        }
        assert.ok(address >= 65_536 && address + size <= memory.memory.buffer.byteLength);
        blocks.set(address, size);
      }
    }
    for (const [address, size] of blocks) memory.release(address, size);
    assert.equal(memory.usedBytes, 0);
    const before = memory.memory.buffer.byteLength;
    memory.release(memory.allocate(before / 4), before / 4);
    assert.equal(memory.memory.buffer.byteLength, before, "small free blocks became a large one");
  });

  test("beyond its limit it refuses with memory_limit, and open memory is released completely", async () => {
    const small = await testKernel(2 ** 21);
    const used = small.memory.usedBytes;
    const fields = new KernelFields(small);
    const field = fields.open(testMapping().field("message")!)!;
    const random = new Random(9);
    assert.throws(
      () => {
        for (let doc = 0; doc < 1e6; doc++) {
          const text = Buffer.from(`${random.below(2 ** 31)} ${random.below(2 ** 31)}`);
          field.addAsciiText(doc, text, 0, text.length);
        }
      },
      (error: unknown) => error instanceof AppError && error.code === "memory_limit",
    );
    fields.release();
    fields.release();
    assert.ok(small.memory.usedBytes - used < 65_536, "scratch only");
  });

  test("where it is scarce open buffers are to be sealed", async () => {
    const small = await testKernel(2 ** 21);
    const open = new KernelFields(small);
    assert.equal(open.isTight, false);
    for (let block = 0; block < 3; block++) small.memory.allocate(2 ** 19);
    assert.ok(open.isTight);
  });

  test("shards that fill it are sealed in time, and no message fails", async () => {
    const small = await testKernel(2 ** 23);
    await withFolder((folder) => {
      const options = {
        index: "test",
        mapping: testMapping(),
        log: silentLogger(),
        indexing: kernelIndexing(small),
      };
      const shards = Array.from({ length: 10 }, (_, number) => Shard.open(`${folder}/${number}`, options));
      const random = new Random(10);
      let most = 0;
      for (let sequence = 1; sequence <= 10; sequence++) {
        const operations = Array.from({ length: 100 }, (_, number) => {
          const words = Array.from({ length: 8 }, () => random.below(2 ** 31));
          return operation(INDEX, `${sequence}-${number}`, { message: words.join(" ") });
        });
        for (const shard of shards) {
          apply(shard, sequence, ...operations);
          most = Math.max(most, small.memory.usedBytes);
        }
      }
      assert.ok(most > small.memory.limitBytes / 2, `only ${most} bytes were used`);
      for (const shard of shards) {
        shard.refresh();
        assert.equal(shard.stats().docs, 1000);
        shard.close();
      }
      assert.ok(small.memory.usedBytes < 2 ** 20, "all buffers are given back");
    });
  });

  test("two buffers that grow in turns stay apart", () => {
    const mapping = testMapping();
    const [a, b] = [new Random(1), new Random(2)].map((random) =>
      Array.from({ length: 300 }, () => Buffer.from(JSON.stringify({ message: randomText(random) }))),
    );
    const alone = sealed(kernelIndexing(kernel), mapping, a!);
    const other = new KernelFields(kernel);
    const field = other.open(mapping.field("message")!)!;
    for (const [doc, text] of b!.entries())
      field.addAsciiText(
        doc,
        text.map((byte) => byte & 127),
        0,
        text.length,
      );
    const beside = sealed(kernelIndexing(kernel), mapping, a!);
    other.release();
    assert.deepEqual(beside.segment.directory, {
      ...(alone.segment.directory as object),
      idIndex: idIndexOf(beside),
    });
  });

  test("a thread at rest gives up a kernel that has grown, and shards go on with another one", async () => {
    await withFolder((folder) => {
      const shard = Shard.open(folder, { index: "test", mapping: testMapping(), log: silentLogger() });
      const large = threadKernel();
      apply(shard, 1, operation(INDEX, "sealed", { message: "first" }));
      shard.refresh();
      apply(shard, 2, operation(INDEX, "buffered", { message: "second" }));
      restThreadKernel();
      assert.equal(threadKernel(), large, "it is small");
      large.memory.release(large.memory.allocate(2 ** 22), 2 ** 22);
      restThreadKernel();
      assert.equal(threadKernelBytes(), 0);

      apply(shard, 3, operation(INDEX, "same buffer", { message: "third" }));
      shard.refresh();
      const small = threadKernel();
      assert.notEqual(small, large);
      assert.deepEqual(small.seed, large.seed, "shapes of documents stay the same");
      const used = large.memory.usedBytes;
      apply(shard, 4, operation(INDEX, "next buffer", { message: "fourth" }));
      assert.equal(large.memory.usedBytes, used);
      shard.refresh();
      assert.equal(shard.stats().docs, 4);
      assert.equal(Buffer.from(shard.get("same buffer")!.source).toString(), '{"message":"third"}');
      shard.close();
    });
  });

  test("a buffer structure that was freed is empty", () => {
    const at = kernel.allocateZeroed(BUFFER_BYTES);
    kernel.place(at, Buffer.from("abc"));
    kernel.setLength(at, 3);
    assert.equal(Buffer.from(kernel.view(at)).toString(), "abc");
    kernel.free(at);
    assert.equal(kernel.view(at).length, 0);
    kernel.memory.release(at, BUFFER_BYTES);
  });
});

function idIndexOf({ segment }: { segment: { directory: unknown } }): unknown {
  return (segment.directory as { idIndex: unknown }).idIndex;
}
