import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockMemory } from "#agent/contract/block-memory.ts";
import { decodeEvents } from "#agent/contract/packed-events.ts";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import { UTF_8 } from "#agent/lines/encoding.ts";
import type { FileView, PlainLines } from "#agent/lines/event-format.ts";
import { LineFormat, type LineOptions } from "#agent/lines/line-format.ts";
import { packPlainLines } from "#test/oracles/line-kernel.ts";
import { packEvents, packLines } from "./event-packer.ts";

const OPTIONS: LineOptions = {
  encoding: UTF_8,
  terminator: "auto",
  multiline: null,
  json: null,
  include: [],
  exclude: [/^DEBUG/],
  onLong: "split",
  onLeftOut: () => undefined,
};
const SLOT_BYTES = 65_536;
/** Where a test's events begin in their buffer. */
const TARGET_START = 5;
/** Memory of the kernel, and ordinary memory. */
const MEMORIES = [new BlockMemory(1_048_576), new BlockMemory(0)];

function viewOf(text: string, memory: BlockMemory, offset = 1_000): FileView {
  const bytes = Buffer.from(text);
  const buffer = memory.allocate(bytes.length);
  bytes.copy(buffer);
  const given = { offset, continued: false, afterCut: false, cuts: [], expired: false, final: false };
  return { buffer, start: 0, end: buffer.length, ...given };
}

/** Packs with and without the fast path; returns the events of both and where they end. */
async function packBoth(format: LineFormat, text: string): Promise<{ fast: unknown; slow: unknown }> {
  const slow = new Proxy(format, {
    get: (of, name) => {
      if (name === "plainLines") return null;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
  const slots = new SlotPool(2, SLOT_BYTES);
  const { memory } = slots;
  const view = viewOf(text, memory);
  const packed: unknown[] = [];
  for (const each of [format, slow]) {
    const slot = (await slots.acquire(new AbortController().signal))!;
    const options = { slot, memory, headroom: 0, tailroom: 0, maxBodyBytes: SLOT_BYTES };
    const { end, bodyEnd, events } = packEvents(each, view, {
      ...options,
      onTruncated: () => undefined,
      stopAt: view.end,
    });
    packed.push({ end, events, decoded: [...decodeEvents(slot.buffer.subarray(0, bodyEnd))] });
  }
  return { fast: packed[0], slow: packed[1] };
}

for (const [name, text] of [
  ["plain lines", "one\ntwo\nthree\n"],
  ["lines with carriage returns, also in their middle", "one\r\nt\rwo\r\n\r\n"],
  ["empty lines", "\n\none\n\n"],
  ["lines that a filter leaves out", "DEBUG one\ntwo DEBUG\nDEBUG\n"],
  ["characters of several bytes", "größer 東京\ncafé\n"],
  ["lines longer than the kernel's step", `${"0123456789abcdef".repeat(9)}xyz\n${"-".repeat(16)}\nend\n`],
  ["an unfinished last line", "one\ntwo"],
] as const) {
  test(`the fast path packs ${name} as the ordinary one does`, async () => {
    const { fast, slow } = await packBoth(new LineFormat(OPTIONS, 1_024), text);
    assert.deepEqual(fast, slow);
  });
}

/** Packs in both kinds of memory; both must come to what the oracle says, byte for byte. */
function packTwice(lines: PlainLines, text: string, limit: number, offset = 1_000) {
  const right = packPlainLines(lines, viewOf(text, MEMORIES[1]!, offset), limit - TARGET_START);
  const [first] = MEMORIES.map((memory) => {
    const view = viewOf(text, memory, offset);
    const buffer = memory.allocate(SLOT_BYTES);
    const packed = packLines(lines, view, memory, { buffer, start: TARGET_START, limit });
    const { end, events, full } = packed;
    const written = Buffer.from(buffer.subarray(TARGET_START, packed.bodyEnd));
    assert.deepEqual({ end: end - view.start, events, full, written }, right);
    memory.giveBack(view.buffer);
    memory.giveBack(buffer);
    return packed;
  });
  return first!;
}

const PLAIN: PlainLines = {
  maxBytes: 10,
  stripsReturn: true,
  within: () => ({ keeps: () => true, keptUntil: () => Number.POSITIVE_INFINITY }),
};

test("the fast path ends before a line that is too long, and before NULs", () => {
  for (const rest of ["a line of many bytes\nx\n", "\0\0x\n"]) {
    const { end, full } = packTwice(PLAIN, `one\ntwo\n${rest}`, SLOT_BYTES);
    assert.deepEqual([end, full], [8, true]);
  }
});

test("the fast path ends before a line that does not fit", () => {
  const { end, bodyEnd, events, full } = packTwice({ ...PLAIN, maxBytes: 100 }, "0123456789\n".repeat(3), 30);
  assert.deepEqual([end, events, full], [11, 1, true]);
  assert.ok(bodyEnd <= 30);
});

test("lines are packed as the oracle packs them, whatever the lines, filters, offsets and capacity", () => {
  const pieces = ["\n", "\r\n", "DEBUG", "x", "some text ", "0123456789abcdef", "é", "\0", "DEBU", "\r"];
  const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!;
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: pick([1, 10, 80]) }, () => pick(pieces)).join("");
    const exclude = pick([[], [/^DEBUG/], [/DEBUG|some/], [/\d/]]);
    const terminator = pick(["auto", "line_feed"]);
    const format = new LineFormat({ ...OPTIONS, exclude, terminator }, pick([30, 1_000]));
    const offset = pick([0, 1, 127, 2 ** 31, 2 ** 32 - 3, 2 ** 40 + 5, 2 ** 52]);
    packTwice(format.plainLines!, text, pick([20, 200, SLOT_BYTES]), offset);
  }
});
