import assert from "node:assert/strict";
import { test } from "node:test";
import { decimal, numberOf, parseEventJson, parseEventObject, parseJsonObject } from "./json.ts";

test("numbers of an event's JSON are written as they were read, decimals without a fraction with their point", () => {
  for (const [text, written = text] of [
    ['{"a":30.0,"b":[1.0,2],"c":30}'],
    ['{"a":-0.0,"b":0.0}'],
    ['{"a":1e3,"b":2.50E1}', '{"a":1000.0,"b":25.0}'],
    ['{"a":1e21,"b":1.5}', '{"a":1e+21,"b":1.5}'],
    ['{"a":12345678901234567890,"b":1.0}'],
    ['{"ip":"10.0.0.1","m":"took 2.0, then 3.0}"}'],
  ])
    assert.equal(JSON.stringify(parseEventJson(text!)), written);
  assert.equal(parseEventJson('{"a":1.0}x'), undefined);
});

test("a number that stays as it was written isn't an object", () => {
  for (const text of ["12345678901234567890", "30.0", "[1.0]"]) {
    assert.equal(parseEventObject(text), undefined, text);
    assert.equal(parseJsonObject(text), undefined, text);
  }
});

test("a decimal is a number to those who read it", () => {
  assert.deepEqual([decimal(7), decimal(7.5), 7].map(numberOf), [7, 7.5, 7]);
  assert.deepEqual(["7", null, undefined, {}].map(numberOf), Array(4).fill(undefined));
});
