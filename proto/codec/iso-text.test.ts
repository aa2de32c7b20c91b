import assert from "node:assert/strict";
import { test } from "node:test";
import { isoText } from "./iso-text.ts";
import { MAX_ISO_MS, MIN_ISO_MS } from "./time.ts";

test("a time is written as the platform writes it, whatever day the one before was of", () => {
  const times = [
    0,
    -1,
    1,
    86_399_999,
    86_400_000,
    Date.UTC(2024, 1, 29, 23, 59, 59, 999),
    MIN_ISO_MS,
    MAX_ISO_MS,
  ];
  for (let at = MIN_ISO_MS; at < MAX_ISO_MS; at += 86_400_000 * 367 + 3_723_045) times.push(at);
  for (const time of [...times, ...times.toReversed()])
    assert.equal(isoText(time), new Date(time).toISOString());
});
