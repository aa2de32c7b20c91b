/** Contract of codecs that cut bytes into lines. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LineCutter } from "#proto/codec/lines.ts";
import type { Interval } from "#proto/kit/interval-set.ts";

export interface CutLine {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly continued: boolean;
  readonly open: boolean;
}

/** Returns the lines of `data` within `ranges`. */
export function cutLines(
  data: Uint8Array,
  ranges: readonly Interval[] = [[0, data.length]],
  from = 0,
): CutLine[] {
  const cutter = new LineCutter({ data, from, ranges, firstLineContinued: false });
  const lines: CutLine[] = [];
  while (cutter.next()) {
    const bytes = data.subarray(cutter.start, cutter.end);
    lines.push({ offset: cutter.offset, bytes, continued: cutter.continued, open: cutter.open });
  }
  return lines;
}

/** Declares the tests for a set of texts. */
export function testLineCutting(texts: readonly Buffer[]): void {
  test("each byte that isn't a line end, a hole or a carriage return before a newline is in exactly one line", () => {
    for (const text of texts) {
      const expected = text
        .toString("latin1")
        .split("\n")
        .map((line, index, all) => (index < all.length - 1 ? line.replace(/\r$/, "") : line));
      const kept = expected.map((line) => line.replace(/^\0+/, "")).filter((line) => line !== "");
      assert.deepEqual(
        cutLines(text).map(({ bytes }) => Buffer.from(bytes).toString("latin1")),
        kept,
      );
    }
  });

  test("ranges that tile the text yield the same bytes, with their offsets", () => {
    for (const text of texts) {
      for (let cut = 1; cut < text.length; cut++) {
        const lines = cutLines(text, [
          [0, cut],
          [cut, text.length],
        ]);
        for (const { offset, bytes } of lines)
          assert.deepEqual(text.subarray(offset, offset + bytes.length), bytes);
        const whole = cutLines(text).reduce(
          (sum, { bytes }) => sum + bytes.filter((byte) => byte > 0x0d).length,
          0,
        );
        assert.equal(
          lines.reduce((sum, { bytes }) => sum + bytes.filter((byte) => byte > 0x0d).length, 0),
          whole,
        );
      }
    }
  });
}
