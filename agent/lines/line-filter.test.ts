import assert from "node:assert/strict";
import { test } from "node:test";
import { compileExpression } from "./expression.ts";
import { LineFilter, literalsOf } from "./line-filter.ts";

for (const [expression, expected] of [
  ["^DEBUG", ["DEBUG"]],
  ["health check$", ["health check"]],
  ["ERR|WARN|FATAL", ["ERR", "WARN", "FATAL"]],
  ["GET /status.*200", ["GET /status"]],
  ["colou?r of light", ["r of light"]],
  ["abc*defg", ["defg"]],
  ["abc+d", ["abc"]],
  ["ab{0,3}", null],
  ["level=(debug|trace)", null],
  ["level=(debug)", ["level="]],
  ["\\d+ms", null],
  ["(?i)debug", null],
  ["[Dd]ebug", null],
  ["ERR|.", null],
  ["größe", null],
  ["", null],
] as const) {
  test(`what "${expression}" matches holds ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(literalsOf(compileExpression("exclude_lines", expression)), expected));
}

test("bytes are kept as the text of them is, whatever the expressions", () => {
  const words = ["DEBUG", "ERR", "WARN", "health", "ok", "é", "DEB", "UG", "", " "];
  const lines = words.flatMap((a) => words.map((b) => `${a}${b}`));
  const buffer = Buffer.from(lines.join("\n"));
  const lists = [[], ["^DEBUG"], ["ERR|WARN"], ["DEBUG", "health"], ["[Ee]RR"], ["ok", "\\s"]];
  for (const include of lists) {
    for (const exclude of lists) {
      const compile = (texts: readonly string[]) => texts.map((text) => compileExpression("lines", text));
      const filter = new LineFilter(compile(include), compile(exclude));
      const [range, ahead] = [filter.within(buffer), filter.within(buffer)];
      let at = 0;
      for (const line of lines) {
        const end = at + Buffer.byteLength(line);
        const name = `${include.join()} / ${exclude.join()}: ${line}`;
        assert.equal(range.keeps(at, end), filter.keeps(line), name);
        if ((ahead.keptUntil(at) ?? 0) >= end) assert.ok(filter.keeps(line), `${name}: was to be kept`);
        at = end + 1;
      }
    }
  }
});
