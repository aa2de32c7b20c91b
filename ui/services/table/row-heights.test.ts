import assert from "node:assert/strict";
import { test } from "node:test";
import { RowHeights } from "./row-heights.ts";

test("places and rows agree, whatever heights rows were drawn with", () => {
  for (const count of [1, 2, 7, 64, 1_000]) {
    const rows = new RowHeights(count, 20);
    const heights = Array.from({ length: count }, () => 20);
    for (let row = 0; row < count; row += 3) {
      heights[row] = 20 + (row % 5) * 17;
      assert.equal(rows.set(row, heights[row]!), heights[row]! - 20);
    }
    let top = 0;
    for (const [row, height] of heights.entries()) {
      assert.equal(rows.topOf(row), top);
      assert.equal(rows.rowAt(top), row);
      assert.equal(rows.rowAt(top + height - 1), row);
      top += height;
    }
    assert.equal(rows.totalPx, top);
  }
});

test("places before the first row and behind the last are theirs", () => {
  const rows = new RowHeights(5, 10);
  assert.equal(rows.rowAt(-30), 0);
  assert.equal(rows.rowAt(500), 4);
});

test("rows that come behind keep the heights of those that are there", () => {
  const rows = new RowHeights(3, 10);
  rows.set(1, 44);
  rows.grow(6);
  assert.equal(rows.topOf(3), 64);
  assert.equal(rows.totalPx, 94);
  assert.equal(rows.heightOf(1), 44);
});

test("no rows take no place", () => {
  const rows = new RowHeights(0, 10);
  assert.equal(rows.totalPx, 0);
  assert.equal(rows.rowAt(5), 0);
});
