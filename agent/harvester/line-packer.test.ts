import assert from "node:assert/strict";
import { test } from "node:test";
import { UTF_8 } from "#agent/lines/encoding.ts";
import type { FileView } from "#agent/lines/event-format.ts";
import { LineFormat, type LineOptions } from "#agent/lines/line-format.ts";
import { decodeEvents } from "#agent/outputs/documents.ts";
import { Slot } from "#agent/slot-pool.ts";
import { packEvents } from "./event-packer.ts";
import { packLines } from "./line-packer.ts";

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

function viewOf(text: string): FileView {
  const buffer = Buffer.from(text);
  const given = { offset: 1_000, continued: false, afterCut: false, cuts: [], expired: false, final: false };
  return { buffer, start: 0, end: buffer.length, ...given };
}

/** Packs with and without the fast path; returns the events of both and where they end. */
function packBoth(format: LineFormat, view: FileView): { fast: unknown; slow: unknown } {
  const slow = new Proxy(format, {
    get: (of, name) => {
      if (name === "plainLines") return null;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
  const [first, second] = [format, slow].map((each) => {
    const slot = new Slot(65_536, () => undefined);
    const options = { slot, headroom: 0, tailroom: 0, maxBodyBytes: 65_536, onTruncated: () => undefined };
    const { end, bodyEnd, events } = packEvents(each, view, { ...options, stopAt: view.end });
    return { end, events, decoded: [...decodeEvents(slot.buffer.subarray(0, bodyEnd))] };
  });
  return { fast: first, slow: second };
}

for (const [name, text] of [
  ["plain lines", "one\ntwo\nthree\n"],
  ["lines with carriage returns, also in their middle", "one\r\nt\rwo\r\n\r\n"],
  ["empty lines", "\n\none\n\n"],
  ["lines that a filter leaves out", "DEBUG one\ntwo DEBUG\nDEBUG\n"],
  ["characters of several bytes", "größer 東京\ncafé\n"],
  ["an unfinished last line", "one\ntwo"],
] as const) {
  test(`the fast path packs ${name} as the ordinary one does`, () => {
    const { fast, slow } = packBoth(new LineFormat(OPTIONS, 1_024), viewOf(text));
    assert.deepEqual(fast, slow);
  });
}

test("the fast path ends before a line that is too long, and before NULs", () => {
  const lines = { maxBytes: 10, stripsReturn: true, within: () => () => true };
  const target = Buffer.alloc(1_000);
  for (const rest of ["a line of many bytes\nx\n", "\0\0x\n"]) {
    const { end, full } = packLines(lines, viewOf(`one\ntwo\n${rest}`), target, 0, target.length);
    assert.deepEqual([end, full], [8, true]);
  }
});

test("the fast path ends where the next line has no room", () => {
  const lines = { maxBytes: 100, stripsReturn: true, within: () => () => true };
  const target = Buffer.alloc(30);
  const { end, bodyEnd, events, full } = packLines(lines, viewOf("0123456789\n".repeat(3)), target, 0, 30);
  assert.deepEqual([end, events, full], [11, 1, true]);
  assert.ok(bodyEnd <= 30);
});
