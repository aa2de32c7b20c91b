import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeeper, setMember } from "./json.ts";

test("__proto__ is a member like any other", () => {
  const object: Record<string, unknown> = { a: 1 };
  setMember(object, "__proto__", { b: 2 });
  setMember(object, "a", 3);
  assert.equal(JSON.stringify(object), '{"a":3,"__proto__":{"b":2}}');
  assert.equal(object["b"], undefined);
});

test("a value is deeper than its objects and arrays nest", () => {
  const value = { a: [{ b: 1 }] };
  assert.deepEqual(
    [0, 1, 2, 3].map((depth) => isDeeper(value, depth)),
    [true, true, true, false],
  );
});
