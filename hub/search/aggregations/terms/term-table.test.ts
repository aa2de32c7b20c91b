import assert from "node:assert/strict";
import { test } from "node:test";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import { Random } from "#test/support/engine/random.ts";
import { TermTable } from "./term-table.ts";

test("equal terms have one number, others the following ones", () => {
  const random = new Random(7);
  const table = new TermTable(new CollectBudget());
  const known = new Map<string, number>();
  for (let step = 0; step < 5000; step++) {
    const text = random.oneIn(50) ? "" : `${random.pick(["ä", "b", "日本"])}${random.below(1500)}`;
    const number = table.number(Buffer.from(text));
    assert.equal(number, known.get(text) ?? known.size);
    known.set(text, number);
  }
  assert.equal(table.size, known.size);
  for (const [text, number] of known) assert.equal(table.text(number), text);
});

test("terms are compared by their bytes", () => {
  const table = new TermTable(new CollectBudget());
  const texts = ["", "a", "ab", "b", "z\u{10000}", "z\uffff", "é"];
  const numbers = texts.map((text) => table.number(Buffer.from(text)));
  for (const [a, left] of texts.entries()) {
    for (const [b, right] of texts.entries()) {
      const expected = Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)));
      assert.equal(Math.sign(table.compare(numbers[a]!, numbers[b]!)), expected, `${left} ${right}`);
    }
  }
});

test("long terms are paid for", () => {
  const table = new TermTable(new CollectBudget(100));
  assert.throws(() => table.number(Buffer.alloc(20_000, "x")), { code: "memory_limit" });
});
