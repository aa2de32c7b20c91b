import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonSteps, plainValue, RawJson, writeJson } from "./json-writer.ts";

const bucket = (at: number): object => ({
  key: `k${at}`,
  doc_count: at,
  none: undefined,
  below: { buckets: Array.from({ length: at % 70 }, (_, key) => ({ key })) },
});

const VALUES: readonly (readonly [what: string, value: unknown])[] = [
  ["buckets within buckets", { terms: { buckets: Array.from({ length: 200 }, (_, at) => bucket(at)) } }],
  [
    "hits",
    Array.from({ length: 100 }, (_, _id) => ({ _id, _source: new RawJson(Buffer.from('{"a": 1.0}')) })),
  ],
  ["deep lists", [[[[[[[[1, [2]]]]]]]]]],
  ["scalars", [null, undefined, Number.NaN, 10n, "x\u2028", true]],
  ["nothing", {}],
];

for (const [what, value] of VALUES) {
  test(`${what}: the text written in steps is that written at once`, () => {
    const steps = jsonSteps(value);
    let yields = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) yields++;
    assert.equal(step.value, writeJson(value));
    if (Array.isArray(value) && value.length >= 100) assert.ok(yields > 2);
  });
}

test("numbers of a raw document keep their texts when it is looked into or printed in lines", () => {
  const raw = new RawJson(Buffer.from('{"a":5.0,"b":[1E3,12345678901234567890],"c":"5.0","d":7}'));
  assert.equal(writeJson(plainValue(raw)), '{"a":5.0,"b":[1E3,12345678901234567890],"c":"5.0","d":7}');
  assert.match(writeJson(raw, true), /"a" : 5\.0,\n {2}"b" : \[\n {4}1E3,\n {4}12345678901234567890\n/);
});
