import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSettingValue } from "./setting-values.ts";

const VALID: readonly (readonly [key: string, value: unknown])[] = [
  ["refresh_interval", "1s"],
  ["refresh_interval", "5 s"],
  ["refresh_interval", "5S"],
  ["refresh_interval", "-1"],
  ["refresh_interval", -1],
  ["refresh_interval", "0"],
  ["refresh_interval", null],
  ["max_result_window", "50000"],
  ["max_result_window", 1],
  ["blocks.write", true],
  ["blocks.read_only_allow_delete", "false"],
  ["blocks.read_only_allow_delete", null],
  ["translog.flush_threshold_size", "512mb"],
  ["codec", "best_compression"],
  ["search.slowlog.threshold.query.warn", "10s"],
  ["routing.allocation.include.zone", "abc"],
];

/** Reasons of 6.5.4. */
const INVALID: readonly (readonly [key: string, value: unknown, reason: string, cause?: string])[] = [
  [
    "refresh_interval",
    "abc",
    "failed to parse setting [index.refresh_interval] with value [abc] as a time value: unit is missing or unrecognized",
  ],
  [
    "refresh_interval",
    5,
    "failed to parse setting [index.refresh_interval] with value [5] as a time value: unit is missing or unrecognized",
  ],
  ["refresh_interval", "1.5s", "failed to parse [1.5s], fractional time values are not supported"],
  [
    "refresh_interval",
    "-5s",
    "failed to parse value [-5s] for setting [index.refresh_interval], must be >= [-1]",
  ],
  [
    "max_result_window",
    "x",
    "Failed to parse value [x] for setting [index.max_result_window]",
    'For input string: "x"',
  ],
  ["max_result_window", 0, "Failed to parse value [0] for setting [index.max_result_window] must be >= 1"],
  ["blocks.write", "foo", "Failed to parse value [foo] as only [true] or [false] are allowed."],
  ["requests.cache.enable", 1, "Failed to parse value [1] as only [true] or [false] are allowed."],
  [
    "translog.flush_threshold_size",
    "1",
    "failed to parse setting [index.translog.flush_threshold_size] with value [1] as a size in bytes: unit is missing or unrecognized",
    "failed to parse setting [index.translog.flush_threshold_size] with value [1] as a size in bytes: unit is missing or unrecognized",
  ],
  ["codec", "foo", "unknown value for [index.codec] must be one of [default, best_compression] but was: foo"],
  [
    "search.slowlog.threshold.query.warn",
    "x",
    "failed to parse setting [index.search.slowlog.threshold.query.warn] with value [x] as a time value: unit is missing or unrecognized",
  ],
];

for (const [key, value] of VALID)
  test(`${key} may be ${JSON.stringify(value)}`, () => {
    checkSettingValue(key, value);
  });

for (const [key, value, message, cause] of INVALID)
  test(`${key} can't be ${JSON.stringify(value)}`, () => {
    assert.throws(
      () => {
        checkSettingValue(key, value);
      },
      (error: Error) => {
        assert.equal(error.message, message);
        assert.equal((error.cause as Error | undefined)?.message, cause);
        return true;
      },
    );
  });
