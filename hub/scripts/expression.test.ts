import assert from "node:assert/strict";
import { test } from "node:test";
import { DateTime } from "#hub/scripts/library/dates.ts";
import { toDouble } from "#hub/scripts/values/operators.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { compileLuceneExpression } from "./expression.ts";

const NAMES = ["params", "doc", "_score"];
const DOC = new Map<string, unknown>([
  ["n", [2, 3, 7]],
  ["x", [new Decimal(1.5)]],
  ["none", []],
  ["flag", [true]],
  ["at", [new DateTime(Date.UTC(2026, 10, 26, 19, 5, 7))]],
]);

function resultOf(source: string, params: object = {}): number {
  const script = compileLuceneExpression(source, NAMES, "number");
  return toDouble(script.run([params, DOC, new Decimal(0.5)]));
}

const VALUES: readonly (readonly [source: string, value: number, params?: object])[] = [
  ["1/2", 0.5],
  ["0x1F + 010 + 1e3", 31 + 8 + 1000],
  ["1420070400000 * 2", 2840140800000],
  ["2 + 3 * 4 - 10 % 4", 12],
  ["-(2 - 5)", 3],
  ["~5", -6],
  ["6 & 3 | 8 ^ 1", (6 & 3) | (8 ^ 1)],
  ["1 << 4 >> 1", 8],
  ["2 > 1", 1],
  ["(2 > 1) + (1 == 1)", 2],
  ["!(2 > 1) || 0.5 && 3", 1],
  ["!7", 0],
  ["2 > 3 ? 4 : 5 > 4 ? 6 : 7", 6],
  ["3 ? 1 : 2", 1],
  ["_score * 4", 2],
  ["a + b", 3.5, { a: 1, b: 2.5 }],
  ["abs(-2) + ceil(0.2) + floor(1.9) + sqrt(16)", 2 + 1 + 1 + 4],
  ["ln(exp(2)) + log10(1000) + logn(2, 8)", 8],
  ["max(2, 3) + min(2, 3) + pow(2, 10)", 1029],
  ["acosh(cosh(1)) + asinh(sinh(1)) + atanh(tanh(1))", 3],
  ["atan2(0, 1) + sin(0) + cos(0) + tan(0) + asin(0) + acos(1) + atan(0)", 1],
  ["haversin(40.7143528, -74.0059731, 40.759011, -73.9844722)", 5.285885589128],
  ["doc['n'].value", 2],
  ["doc['n'] * 3 + 1", 7],
  ["doc['n'] > 1 ? 5 : 6", 5],
  [
    "doc['n'].min() + doc['n'].max() + doc['n'].sum() + doc['n'].avg() + doc['n'].median()",
    2 + 7 + 12 + 4 + 3,
  ],
  ["doc['n'].count() + doc['n'].length", 6],
  ["doc['none'].value + doc['none'].avg() + doc['none'].median() + doc['none'].date.year", 0],
  ["doc['none'].empty * 2 + doc['n'].empty", 2],
  ["doc['flag'].value", 1],
  ["doc['at'].value", Date.UTC(2026, 10, 26, 19, 5, 7)],
  ["doc['at'].getYear() * 100 + doc['at'].getMonth()", 202610],
  ["doc['at'].date.monthOfYear * 100 + doc['at'].date.dayOfMonth", 1126],
  ["doc['at'].getHourOfDay() * 10000 + doc['at'].getMinutes() * 100 + doc['at'].getSeconds()", 190507],
];

for (const [source, expected, params] of VALUES) {
  test(`${source} is ${expected}`, () => {
    assert.ok(Math.abs(resultOf(source, params) - expected) < 1e-9, String(resultOf(source, params)));
  });
}

test("a condition is whether its value isn't 0", () => {
  const holds = (source: string): unknown =>
    compileLuceneExpression(source, NAMES, "condition").run([{}, DOC, 0]);
  assert.deepEqual(
    [holds("doc['n'].value - 2"), holds("doc['n'].value > 1"), holds("1 && 0")],
    [false, true, false],
  );
});

const REFUSED: readonly (readonly [source: string, reason: RegExp])[] = [
  ["", /one sum/],
  ["1; 2", /one sum/],
  ["int i = 1", /one sum/],
  ["i = 1", /isn't offered/],
  ["'a' + 1", /numbers alone/],
  ["new ArrayList()", /isn't offered/],
  ["[1, 2]", /isn't offered/],
  ["nothing(1)", /Unrecognized function call \(nothing\)/],
  ["constructor(1)", /Unrecognized function call/],
  ["max(1)", /Expected \(2\) arguments for function call \(max\), but found \(1\)/],
  ["doc", /Unknown variable \[doc\]/],
  ["doc[1]", /isn't offered/],
  ["params[0] > 1", /isn't offered/],
  ["doc['n'].values", /Member \[values\] does not exist/],
  ["doc['n'].__proto__", /does not exist/],
  ["doc['n'].get(0)", /isn't offered/],
  ["doc[doc['n'].value].value", /Unknown variable/],
  ["params.a", /Unknown variable/],
  ["Math.abs(1)", /isn't offered|Unknown variable/],
  ["1 +", /unexpected|Unexpected/],
  ["(".repeat(300), /levels deep/],
];
for (const [source, reason] of REFUSED) {
  test(`${source.slice(0, 40)} is refused`, () => {
    assert.throws(
      () => resultOf(source),
      (error) => {
        assert.ok(error instanceof AppError && error.code === "script_failed", String(error));
        assert.equal(error.data["lang"], "expression");
        assert.match(String((error.data["caused_by"] as { reason: string }).reason), reason);
        return true;
      },
    );
  });
}

test("values that aren't numbers fail with their position", () => {
  const script = compileLuceneExpression("1 + doc['t'].value", NAMES, "number");
  assert.throws(() => script.run([{}, new Map([["t", ["text"]]]), 0]), {
    message: "runtime error",
    code: "script_failed",
  });
});
