import assert from "node:assert/strict";
import { test } from "node:test";
import { namedFormat } from "./named-formats.ts";

test("formats have their names in snake and in camel case, lenient and strict", () => {
  const rows: [name: string, pattern: string, reading: string][] = [
    ["week_date", "xxxx-'W'ww-e", "x-'W'w-e"],
    ["strict_week_date", "xxxx-'W'ww-e", "xxxx-'W'ww-e"],
    ["strictYearMonthDay", "yyyy-MM-dd", "yyyy-MM-dd"],
    ["basicTTimeNoMillis", "'T'HHmmssZ", "'T'HHmmssZ"],
    ["basic_ordinal_date", "yyyyDDD", "yyyyDDD"],
    ["time", "HH:mm:ss.SSSZZ", "H:m:s.SSSZZ"],
  ];
  for (const [name, pattern, reading] of rows) {
    const format = namedFormat(name);
    assert.deepEqual([format?.pattern, format?.reading], [pattern, reading], name);
  }
  for (const name of ["yyyy", "strict_", "constructor", "yMMdd", "strict_strict_date"])
    assert.equal(namedFormat(name), undefined, name);
});
