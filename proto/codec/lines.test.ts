import assert from "node:assert/strict";
import { test } from "node:test";
import { cutLines, testLineCutting } from "#test/contract/codec.ts";

testLineCutting([
  Buffer.from("one\ntwo\r\nthree\n\nfour"),
  Buffer.from("\r\n\r\n\0\0\0after\n\0\n"),
  Buffer.from("no newline"),
  Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0d, 0x0a]),
  Buffer.from("\n"),
  Buffer.from(""),
]);

test("a line whose head or tail isn't in the range is marked", () => {
  const text = Buffer.from("first\nsecond\n");
  const rows = cutLines(text, [
    [0, 8],
    [8, 13],
  ]).map(({ bytes, continued, open }) => [Buffer.from(bytes).toString(), continued, open]);
  assert.deepEqual(rows, [
    ["first", false, false],
    ["se", false, true],
    ["cond", true, false],
  ]);
});
