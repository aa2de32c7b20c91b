import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMapping } from "#hub/cluster/catalog/index-metadata.ts";
import { KnownShapes } from "./known-shapes.ts";

const bytes = (document: unknown): Uint8Array => Buffer.from(JSON.stringify(document));

test("a document requires its new fields until the mapping has them", () => {
  const shapes = new KnownShapes();
  const mapping = parseMapping("i", {}, {});
  const document = bytes({ a: { b: 1 }, c: ["x", null] });
  const fields = shapes.missing({ uuid: "u", mapping }, document, false);
  assert.deepEqual(Object.keys((fields as { properties: object }).properties), ["a", "c"]);
  const next = { uuid: "u", mapping: mapping.merge(fields) };
  assert.equal(shapes.missing(next, document, false), null);
  assert.equal(shapes.missing(next, document, false), null, "also when the shape is remembered");
  assert.notEqual(shapes.missing(next, bytes({ a: { d: 1 } }), false), null);
  assert.notEqual(shapes.missing({ uuid: "other", mapping }, document, false), null);
});

test("an object where a value was remembered is inspected by the mapping itself", () => {
  const shapes = new KnownShapes();
  const index = { uuid: "u", mapping: parseMapping("i", {}, { properties: { a: { type: "long" } } }) };
  assert.equal(shapes.missing(index, bytes({ a: 1 }), false), null);
  const document = bytes({ a: { b: 1 } });
  const outcome = (inspect: () => unknown): unknown => {
    try {
      return inspect();
    } catch (error) {
      return (error as Error).message;
    }
  };
  const expected = outcome(() => index.mapping.dynamicUpdate(document, false));
  assert.notEqual(expected, undefined);
  assert.deepEqual(
    outcome(() => shapes.missing(index, document, false)),
    expected,
  );
});

test("nested objects are counted in each document", () => {
  const shapes = new KnownShapes();
  const properties = { a: { type: "nested", properties: { b: { type: "long" } } } };
  const mapping = parseMapping("i", { "mapping.nested_objects.limit": 1 }, { properties });
  const index = { uuid: "u", mapping };
  const two = bytes({ a: [{ b: 1 }, { b: 1 }] });
  assert.equal(shapes.missing(index, bytes({ a: [{ b: 1 }] }), false), null);
  assert.throws(() => shapes.missing(index, two, false), /exceeded the allowed limit of \[1\]/);
  assert.equal(shapes.missing(index, two, true), null);
});
