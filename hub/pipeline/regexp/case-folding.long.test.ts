import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { MIB } from "#proto/kit/units.ts";

const EXPRESSIONS = 1_000;

/** Returns the first matches of the expressions of `seed` in a thread of its own; `options` are V8's. */
function matches(seed: number, compile: string, options: readonly string[] = []): string[] {
  const script = `
    import { translateRubyRegexp } from "${import.meta.resolve("./ruby-regexp.ts")}";
    import { firstMatches } from "${import.meta.resolve("#test/support/pipeline/random-regexps.ts")}";
    const compile = ${compile};
    process.stdout.write(JSON.stringify(firstMatches(${seed}, ${EXPRESSIONS}, compile)));`;
  const args = [...options, "--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 64 * MIB });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout) as string[];
}

/** By flags: the engine's own expression, which is right with its flag `i` alone, and the translation. */
const WAYS = {
  iu: [
    '(text) => new RegExp("x(?:" + text + ")", "iu")',
    '(text) => new RegExp(translateRubyRegexp("x(?i:" + text + ")").source, "u")',
  ],
  // Without the flag u a letter beyond U+FFFF is two.
  i: [
    '(text) => new RegExp("x(?:" + text + ")", /[^\\0-\\uffff]/u.test(text) ? "iu" : "i")',
    '(text) => translateRubyRegexp("x(?i:" + text + ")").expression("")',
  ],
} as const;

for (const [flags, [own, translated]] of Object.entries(WAYS))
  test(`expressions that ignore case in a part match as by the flags ${flags}`, () => {
    const seed = 1 + Math.floor(Math.random() * 1e9);
    const found = matches(seed, translated, ["--no-regexp-optimization"]);
    assert.deepEqual(found, matches(seed, own), `seed ${seed}`);
  });
