import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping, type MappingOptions } from "./mapping.ts";

function mapping(properties: unknown, limits: Partial<MappingOptions> = {}): Mapping {
  return Mapping.parse({ properties }, { index: "i", analysis: new Analysis(), ...limits });
}

const keyword = { type: "keyword" };
const inner = { type: "nested", include_in_root: true, properties: { x: keyword } };

suite("nested levels", () => {
  const { nested } = mapping({
    plain: { properties: { x: keyword } },
    a: { type: "nested", properties: { x: keyword, o: { properties: { b: inner } } } },
    p: { type: "nested", include_in_parent: true, properties: { x: keyword } },
  });

  test("are found from the outside in", () => assert.deepEqual(nested.paths, ["a", "a.o.b", "p"]));

  test("lead from one to another", () => {
    assert.deepEqual(nested.way("", "a.o.b"), ["a", "a.o.b"]);
    assert.deepEqual(nested.way("a", "a.o.b"), ["a.o.b"]);
    assert.equal(nested.way("p", "a.o.b"), undefined);
  });

  /** [field, levels that have it] */
  for (const [field, levels] of [
    ["plain.x", [""]],
    ["a.x", ["a"]],
    ["a.o.b.x", ["", "a.o.b"]],
    ["p.x", ["", "p"]],
    ["_ignored", [""]],
  ] as const) {
    test(`have ${field} at ${JSON.stringify(levels)}`, () => {
      const found = ["", "a", "a.o.b", "p"].filter((level) => nested.isVisible(field, level));
      assert.deepEqual(found, levels);
    });
  }
});

suite("limits of nested objects", () => {
  const list = (length: number): Uint8Array =>
    Buffer.from(JSON.stringify({ a: Array.from({ length }, () => ({ x: "v" })) }));
  const properties = { a: { type: "nested", properties: { x: keyword } } };

  test("refuse a document with too many of them, unless it is taken leniently", () => {
    const limited = mapping(properties, { nestedObjectsLimit: 2 });
    assert.equal(limited.dynamicUpdate(list(2)), null);
    assert.throws(() => limited.dynamicUpdate(list(3)), /exceeded the allowed limit of \[2\]/);
    assert.equal(limited.dynamicUpdate(list(3), true), null);
  });

  test("refuse a mapping with too many nested fields", () => {
    const two = { ...properties, b: { type: "nested" } };
    assert.equal(mapping(two, { nestedFieldsLimit: 2 }).nested.paths.length, 2);
    assert.throws(() => mapping(two, { nestedFieldsLimit: 1 }), /Limit of nested fields \[1\]/);
  });
});
