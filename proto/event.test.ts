import assert from "node:assert/strict";
import { test } from "node:test";
import { Event } from "./event.ts";
import { fieldReference } from "./field-reference.ts";

test("a removed field leaves the others as they were, whatever their number and names", () => {
  for (const count of [3, 200]) {
    const fields = Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n]));
    const event = new Event(JSON.parse(`${JSON.stringify(fields).slice(0, -1)},"__proto__":{"a":1}}`), 0);
    assert.equal(event.remove(fieldReference("f1")), 1);
    assert.equal(event.remove(fieldReference("f1")), undefined);
    const { f1: _, ...rest } = fields;
    const names = [...Object.keys(rest), "__proto__", "@timestamp"];
    assert.deepEqual(Object.keys(event.fields), names);
    assert.deepEqual(event.remove(fieldReference("__proto__")), { a: 1 });
    assert.equal(Object.getPrototypeOf(event.fields), Object.prototype);
  }
});
