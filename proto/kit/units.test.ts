import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration, parseSize } from "./units.ts";

for (const [text, ms] of [
  ["200ms", 200],
  ["5s", 5_000],
  ["1.5h", 5_400_000],
  ["2m30s", 150_000],
  ["1d", 86_400_000],
  [" 10 m ", 600_000],
  ["7", 7_000],
  [0, 0],
  [3, 3_000],
] as const) {
  test(`the duration ${JSON.stringify(text)} is ${ms} ms`, () => {
    assert.equal(parseDuration(text), ms);
  });
}

test("a bare number counts the unit that the setting names", () => {
  assert.equal(parseDuration("5", 1), 5);
  assert.equal(parseDuration(5, 60_000), 300_000);
});

for (const text of ["", "soon", "5 parsecs", "-5s", "5s later", "ms"]) {
  test(`the duration ${JSON.stringify(text)} is refused with an example`, () => {
    assert.throws(() => parseDuration(text), { code: "settings_invalid", message: /write for example/ });
  });
}

for (const [text, bytes] of [
  ["4096", 4096],
  ["1b", 1],
  ["512kb", 524_288],
  ["1.5 GiB", 1_610_612_736],
  ["10mb", 10_485_760],
  ["10M", 10_485_760],
  ["2tb", 2 * 1024 ** 4],
  [17, 17],
] as const) {
  test(`the size ${JSON.stringify(text)} is ${bytes} bytes`, () => {
    assert.equal(parseSize(text), bytes);
  });
}

for (const text of ["", "much", "-1kb", "1 furlong", "kb"]) {
  test(`the size ${JSON.stringify(text)} is refused with an example`, () => {
    assert.throws(() => parseSize(text), { code: "settings_invalid", message: /write for example/ });
  });
}
