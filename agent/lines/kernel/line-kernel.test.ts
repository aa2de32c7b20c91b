import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockMemory } from "#agent/contract/block-memory.ts";
import { countLines } from "#agent/harvester/cut.ts";
import { sourceHash } from "./build.ts";
import { LineKernel } from "./line-kernel.ts";
import { SOURCE_HASH } from "./module.ts";

test("the module is what build.ts makes of its source", () => {
  assert.equal(SOURCE_HASH, sourceHash(), "the source has changed: run node agent/lines/kernel/build.ts");
});

test("line feeds are counted, wherever a range begins and ends", () => {
  const memory = new BlockMemory(65_536);
  const block = memory.allocate(1_000);
  assert.notEqual(memory.kernelFor(block), null);
  for (let at = 0; at < block.length; at++) block[at] = Math.random() < 0.2 ? 0x0a : 0x8a;
  const ordinary = Buffer.from(block);
  for (let start = 0; start < 40; start++) {
    for (const end of [start, start + 1, start + 15, start + 16, start + 17, 983, 1_000])
      assert.equal(countLines(memory, block, start, end), countLines(memory, ordinary, start, end));
  }
});

test("blocks beyond the kernel's memory are ordinary ones, and what is given back is used again", () => {
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

test("where the system has no room for its memory there is no kernel", () => {
  assert.equal(LineKernel.create(2 ** 40), null);
});
