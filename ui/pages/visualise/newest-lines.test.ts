import assert from "node:assert/strict";
import { test } from "node:test";
import { NewestLines, rangeUpTo } from "./newest-lines.ts";

const DAY = { from: "now-24h", to: "now" };
const HOUR = { from: "now-1h", to: "now" };

test("the newest time outside a range counts only where nothing on the page has lines in it", () => {
  const lines = new NewestLines();
  assert.equal(lines.outside(DAY), undefined);
  lines.take({ newestMs: 5, hasLines: false }, DAY);
  lines.take({ newestMs: undefined, hasLines: false }, DAY);
  lines.take({ newestMs: 9, hasLines: false }, DAY);
  lines.take({ newestMs: 7, hasLines: false }, DAY);
  assert.equal(lines.outside(DAY), 9);
  assert.equal(lines.outside(HOUR), undefined);
  lines.take({ newestMs: undefined, hasLines: true }, DAY);
  assert.equal(lines.outside(DAY), undefined);
  lines.take({ newestMs: 3, hasLines: false }, HOUR);
  assert.equal(lines.outside(HOUR), 3);
});

test("the way to the newest lines is as long as the range that was empty", () => {
  const newestMs = Date.parse("2026-01-31T12:00:00Z");
  const range = { from: "2026-03-01T00:00:00Z", to: "2026-03-02T00:00:00Z" };
  assert.deepEqual(rangeUpTo(newestMs, range), {
    from: "2026-01-30T12:00:00.000Z",
    to: "2026-01-31T12:00:01.000Z",
  });
});
