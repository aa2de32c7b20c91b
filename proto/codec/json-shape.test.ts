import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { jsonShape } from "./json-shape.ts";

const shapeOf = (text: string): number => jsonShape(Buffer.from(text));

const SAME: readonly (readonly [string, string])[] = [
  ['{"a":1}', '{"a":"x"}'],
  ['{"a":1}', '{ "a" :\n -2.5e3 }'],
  ['{"a":true,"b":{"c":"}"}}', '{"a":"\\"{[","b":{"c":false}}'],
  ['{"a":[1,2,3]}', '{"a":["x"]}'],
  ['{"a":"","b":"a\\\\"}', '{"a":"b","b":"\\":{"}'],
  ['{"a":[[1],[2,3]]}', '{"a":[[1,2],[3]]}'],
];
const OTHERS: readonly (readonly [string, string])[] = [
  ['{"a":1}', '{"b":1}'],
  ['{"a":1}', '{"a":{"b":1}}'],
  ['{"a":1}', '{"a":[1]}'],
  ['{"a":1}', '{"a":null}'],
  ['{"a":[]}', '{"a":[1]}'],
  ['{"a":[1,null]}', '{"a":[1]}'],
  ['{"a":{"b":1},"c":1}', '{"a":{"b":1,"c":1}}'],
  ['{"a":"b","c":1}', '{"a":{"b":1},"c":1}'],
  ['{"ab":1,"c":1}', '{"a":1,"bc":1}'],
  ['{"a":[{"b":1}]}', '{"a":[{"b":1},{"c":1}]}'],
  ["{}", '{"":1}'],
];

suite("the shape of a document", () => {
  test("is the same for all plain values", () => {
    for (const [one, other] of SAME) assert.equal(shapeOf(one), shapeOf(other), `${one} ${other}`);
  });

  test("is another one where names or the kinds of values differ", () => {
    for (const [one, other] of OTHERS) assert.notEqual(shapeOf(one), shapeOf(other), `${one} ${other}`);
  });

  test("is a number for invalid JSON too", () => {
    for (const text of ["", '"', '{"a', '{"a\\', "[1", "{]", "\u0000é"]) {
      const shape = shapeOf(text);
      assert.ok(Number.isSafeInteger(shape) && shape >= 0, text);
    }
  });

  test("speaks of the bytes of the range only", () => {
    const bytes = Buffer.from('{"x":1}{"a":1}{"y":2}');
    assert.equal(jsonShape(bytes, 7, 14), shapeOf('{"a":1}'));
  });

  test("doesn't meet another one by chance", () => {
    const shapes = new Set<number>();
    for (let number = 0; number < 50_000; number++)
      shapes.add(shapeOf(`{"f${number}":{"g${number % 7}":1}}`));
    assert.equal(shapes.size, 50_000);
  });
});
