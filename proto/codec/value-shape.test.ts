import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Timestamp } from "#proto/event.ts";
import type { JsonObject } from "./json.ts";
import { jsonShape } from "./json-shape.ts";
import { valueShape } from "./value-shape.ts";

const raw = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/** Documents by their shape: those of one row have the same one. */
const SHAPES: readonly (readonly JsonObject[])[] = [
  [{}, { a: undefined }],
  [{ a: 1 }, { a: "x" }, { a: true }, { a: new Timestamp(0) }, { a: raw("1e400") }, { a: 1, b: undefined }],
  [{ a: null }, { a: Number.NaN }, { a: Number.POSITIVE_INFINITY }],
  [{ a: [] }],
  [{ a: [1] }, { a: ["x", 2, false] }],
  [{ a: [null] }, { a: [undefined] }],
  [{ a: [1, null] }, { a: ["x", "y", null] }],
  [{ a: [[1]] }, { a: [["x", "y"]] }],
  [{ a: [[1], [2]] }],
  [{ a: {} }],
  [{ a: { b: 1 } }],
  [{ a: { b: 1 }, c: 1 }],
  [{ a: { b: 1, c: 1 } }],
  [{ c: 1, a: { b: 1 } }],
  [{ a: [{ b: 1 }] }],
  [{ a: [{ b: 1 }, { b: 1 }] }],
  [{ b: 1 }],
  [{ "": 1 }],
  [JSON.parse('{"__proto__":{"b":1}}') as JsonObject],
];

suite("the shape of a document that is an object", () => {
  test("tells the same documents apart as the shape of its JSON", () => {
    const all = SHAPES.flat();
    for (const one of all) {
      for (const other of all) {
        const [first, second] = [one, other].map((each) => jsonShape(Buffer.from(JSON.stringify(each))));
        assert.equal(
          valueShape(one) === valueShape(other),
          first === second,
          `${JSON.stringify(one)} ${JSON.stringify(other)}`,
        );
      }
    }
  });

  test("is one per row", () => {
    const shapes = SHAPES.map((row) => new Set(row.map(valueShape)));
    assert.deepEqual(
      shapes.map((row) => row.size),
      SHAPES.map(() => 1),
    );
    assert.equal(new Set(shapes.flatMap((row) => [...row])).size, SHAPES.length);
  });

  test("doesn't meet another one by chance, nor when names are forgotten", () => {
    const shapes = new Set<number>();
    for (let number = 0; number < 50_000; number++)
      shapes.add(valueShape({ [`f${number}`]: { [`g${number % 7}`]: 1 } }));
    assert.equal(shapes.size, 50_000);
    for (const shape of shapes) assert.ok(Number.isSafeInteger(shape) && shape >= 0);
  });
});
