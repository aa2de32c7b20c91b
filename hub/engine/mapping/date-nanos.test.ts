import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_NANOS_FORMAT, millisOf, parseNanos, printNanos } from "./date-nanos.ts";

const AT = 1_540_815_132_123_456_789n;

for (const [text, formats, nanos] of [
  ["2018-10-29T12:12:12.123456789Z", DEFAULT_NANOS_FORMAT, AT],
  ["2018-10-29T14:12:12.123456789+02:00", DEFAULT_NANOS_FORMAT, AT],
  ["2018-10-29T12:12:12.1234Z", DEFAULT_NANOS_FORMAT, 1_540_815_132_123_400_000n],
  ["2018-10-29", DEFAULT_NANOS_FORMAT, 1_540_771_200_000_000_000n],
  ["1540815132123", DEFAULT_NANOS_FORMAT, 1_540_815_132_123_000_000n],
  ["1.540815132123E12", DEFAULT_NANOS_FORMAT, 1_540_815_132_123_000_000n],
  ["1540815132123.456789", "epoch_millis", AT],
  ["1540815132.123456789", "epoch_second", AT],
  ["29.10.2018 12:12:12,123456789", "dd.MM.yyyy HH:mm:ss,SSSSSSSSS", AT],
  ["29.10.2018", "dd.MM.yyyy", 1_540_771_200_000_000_000n],
  ["2262-04-11T23:47:16.854775807Z", DEFAULT_NANOS_FORMAT, 2n ** 63n - 1n],
  ["2262-04-11T23:47:16.854775808Z", DEFAULT_NANOS_FORMAT, null],
  ["1969-12-31T23:59:59.999999999Z", DEFAULT_NANOS_FORMAT, null],
  ["yesterday", DEFAULT_NANOS_FORMAT, null],
] as const) {
  test(`${text} by ${formats} is ${nanos} ns`, () => {
    assert.equal(parseNanos(text, formats), nanos);
  });
}

for (const [formats, text] of [
  [DEFAULT_NANOS_FORMAT, "2018-10-29T12:12:12.123456789Z"],
  ["strict_date_optional_time", "2018-10-29T12:12:12.123Z"],
  ["epoch_millis", "1540815132123.456789"],
  ["epoch_second", "1540815132"],
  ["uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSSX", "2018-10-29T12:12:12.123456789Z"],
  ["HH:mm:ss.SSSSSS", "12:12:12.123456"],
] as const) {
  test(`a time in nanoseconds is printed by ${formats} as ${text}`, () => {
    assert.equal(printNanos(AT, formats), text);
  });
}

test("a fraction's zeros aren't printed", () => {
  assert.equal(printNanos(AT - 6789n, DEFAULT_NANOS_FORMAT), "2018-10-29T12:12:12.12345Z");
  assert.equal(printNanos(AT - 456_789n, DEFAULT_NANOS_FORMAT), "2018-10-29T12:12:12.123Z");
  assert.equal(printNanos(AT - 456_789n, "epoch_millis"), "1540815132123");
});

test("whole milliseconds are rounded down", () => {
  assert.deepEqual([millisOf(1_999_999n), millisOf(2_000_000n), millisOf(-1n)], [1, 2, -1]);
});
