import assert from "node:assert/strict";
import { test } from "node:test";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { matchesWildcard } from "./wildcard.ts";

for (const [pattern, name, matches] of [
  ["*", "", true],
  ["*", "a", true],
  ["", "", true],
  ["", "a", false],
  ["a", "a", true],
  ["a*", "a", true],
  ["a*b", "ab", true],
  ["a*b", "a", false],
  ["a*a", "a", false],
  ["ab*ba", "aba", false],
  ["logs-*", "logs-1", true],
  ["logs-*", "log", false],
  ["*-a*b", "x-ayb", true],
  ["a*b*c", "abc", true],
  ["a*b*c", "acb", false],
  ["*x*y*", "1x2y3", true],
  ["*x*y*", "yx", false],
  ["a.c", "abc", false],
  ["a*c", "a\nc", true],
] as const) {
  test(`${pattern} ${matches ? "matches" : "does not match"} ${JSON.stringify(name)}`, () => {
    assert.equal(matchesWildcard(pattern, name), matches);
  });
}

test("no pattern takes long", () => {
  const startedMs = threadCpuMs();
  matchesWildcard("*a".repeat(200), "a".repeat(199));
  assert.ok(threadCpuMs() - startedMs < 100);
});
