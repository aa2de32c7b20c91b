import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { translateRubyRegexp } from "./ruby-regexp.ts";

/** Returns what the captures of the first match hold; undefined where there is none. */
function captured(pattern: string, text: string): Record<string, string> | undefined {
  const regexp = translateRubyRegexp(pattern, { dotAll: true });
  const match = regexp.expression(text).exec(text);
  if (match === null) return undefined;
  const found: Record<string, string> = {};
  regexp.captureReader().visit(match, (name, value) => {
    found[name] = value;
  });
  return found;
}

test("captures within a repetition are found where case is ignored", () => {
  const rows: [pattern: string, text: string, captures: Record<string, string> | undefined][] = [
    ["(?i)(?:(?<x>a|b)c)+", "ACBC", { x: "B" }],
    ["x(?i:(?:(?<x>a)b)+)", "xAB", { x: "A" }],
    ["(?i)^(?:(?<x>a)b)+$", "y\nAB", { x: "A" }],
    ["(?i)x(?-i)(?:(?<x>a)b)+", "XabAB", { x: "a" }],
    ["(?:(?<x>a)b)+", "AB", undefined],
  ];
  for (const [pattern, text, captures] of rows) assert.deepEqual(captured(pattern, text), captures, pattern);
});

test("case is ignored also where the engine doesn't optimize expressions", () => {
  const script = `
    import { translateRubyRegexp } from "${import.meta.resolve("./ruby-regexp.ts")}";
    const regexp = translateRubyRegexp("(?i)error: (b|c)+");
    process.exitCode = ["ERROR: B", "x\\nError: C"].every((text) => regexp.expression(text).test(text)) ? 0 : 3;`;
  const options = ["--no-regexp-optimization", "--input-type=module", "--eval", script];
  const { status, stderr } = spawnSync(process.execPath, options, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
});

test("letters whose halves are those of other characters are matched", () => {
  for (const text of ["\u{10437}", "\u{10000}"]) assert.equal(captured(`^(?<x>${text})$`, text)?.["x"], text);
});
