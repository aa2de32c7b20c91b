import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockMemory } from "#agent/contract/block-memory.ts";
import { countLineFeeds } from "#test/oracles/line-kernel.ts";
import { sourceHash } from "./build.ts";
import { LineKernel } from "./line-kernel.ts";
import { SOURCE_HASH } from "./module.ts";

test("the module is what build.ts makes of its source", () => {
  assert.equal(SOURCE_HASH, sourceHash(), "the source has changed: run node agent/lines/kernel/build.ts");
});

test("line feeds are counted as the oracle counts them, wherever a range begins and ends and its bytes lie", () => {
  const memory = new BlockMemory(65_536);
  const block = memory.allocate(1_000);
  for (let at = 0; at < block.length; at++) block[at] = Math.random() < 0.2 ? 0x0a : 0x8a;
  const elsewhere = Buffer.from(block);
  for (let start = 0; start < 40; start++) {
    for (const end of [start, start + 1, start + 15, start + 16, start + 17, 983, 1_000]) {
      const expected = countLineFeeds(block, start, end);
      for (const buffer of [block, elsewhere])
        assert.equal(memory.kernel.count(buffer, start, end), expected, `${start} to ${end}`);
    }
  }
  const long = Buffer.alloc(200_000, "0123456789\n");
  assert.equal(memory.kernel.count(long, 3, 199_999), countLineFeeds(long, 3, 199_999));
});

test("blocks beyond the kernel's memory are ordinary ones, and released blocks are reused", () => {
  const memory = new BlockMemory(65_536);
  const [first, second, third] = [40_000, 20_000, 20_000].map((size) => memory.allocate(size));
  assert.deepEqual(
    [first, second, third].map((block) => memory.kernelFor(block!) !== null),
    [true, true, false],
  );
  memory.giveBack(second!);
  memory.giveBack(third!);
  assert.equal(memory.allocate(20_000), second);
  assert.notEqual(memory.allocate(20_000), third);
});

test("memory that the system refuses is an error with its remedy", () => {
  assert.throws(() => LineKernel.create(2 ** 40), {
    code: "unavailable",
    message: /line kernel can't start: .*ulimit -v/,
  });
});

test("a process without WebAssembly is refused with what switches it off", (t) => {
  const found = Object.getOwnPropertyDescriptor(globalThis, "WebAssembly")!;
  Object.defineProperty(globalThis, "WebAssembly", { value: undefined, configurable: true });
  t.after(() => Object.defineProperty(globalThis, "WebAssembly", found));
  assert.throws(() => LineKernel.create(65_536), { code: "unavailable", message: /--jitless/ });
});
