import assert from "node:assert/strict";
import { test } from "node:test";
import { addPart, KeptBytes } from "./byte-parts.ts";

for (const [what, size] of [
  ["single bytes", () => 1],
  ["sizes that fall", (at: number) => 90 - (at % 90)],
  ["sizes by turns", (at: number) => (at % 2 === 0 ? 3 : 2)],
] as const) {
  test(`pieces of ${what} become few, and stay in their order`, () => {
    const parts: Uint8Array[] = [];
    const whole: number[] = [];
    for (let at = 0; at < 20_000; at++) {
      const piece = Buffer.alloc(size(at), at % 251);
      whole.push(...piece);
      addPart(parts, piece);
    }
    assert.ok(parts.length < 2 * (whole.length / 2_048) + 100, `${parts.length} of ${whole.length} bytes`);
    assert.ok(Buffer.concat(parts).equals(Buffer.from(whole)));
  });
}

test("large pieces are kept as they are", () => {
  const parts: Uint8Array[] = [];
  const pieces = [Buffer.alloc(5_000), Buffer.alloc(10), Buffer.alloc(65_536)];
  for (const piece of pieces) addPart(parts, piece);
  assert.deepEqual(
    parts.map(({ length }) => length),
    [5_000, 10, 65_536],
  );
  assert.equal(parts[2], pieces[2]);
});

test("kept bytes come before the next chunk, once", () => {
  const kept = new KeptBytes();
  const chunk = Buffer.from("ab");
  kept.keep(chunk);
  chunk.fill("x");
  kept.keep(Buffer.from("c"));
  assert.equal(kept.length, 3);
  assert.equal(kept.take(Buffer.from("d")).toString(), "abcd");
  assert.deepEqual([kept.length, kept.take().length], [0, 0]);
});

test("a chunk is not copied if nothing was kept before it", () => {
  const chunk = Buffer.from("ab");
  assert.equal(new KeptBytes().take(chunk), chunk);
});
