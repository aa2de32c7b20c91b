import assert from "node:assert/strict";
import { test } from "node:test";
import { flattenSettings, nestSettings } from "./index-settings.ts";

test("settings are nested by the parts of their names, an object replacing a value of the same name", () => {
  const nested = nestSettings({ "index.a.b": 1, "index.a.c": 2, "index.d": 3, "index.d.e": 4 });
  assert.deepEqual(JSON.parse(JSON.stringify(nested)), { index: { a: { b: 1, c: 2 }, d: { e: 4 } } });
});

test("a list that can't be printed is refused where it is set, not where somebody reads all settings", () => {
  assert.deepEqual(flattenSettings({ index: { sort: { field: ["a", "b"] } } }), { "sort.field": ["a", "b"] });
  for (const list of [[{ a: 1 }], [["a"]], ["a", null]])
    assert.throws(() => flattenSettings({ index: { docs: list } }), {
      code: "settings_invalid",
      message: /docs/,
    });
});

test("a name that objects have from elsewhere is one like any other, and changes no other object", () => {
  const given = '{"__proto__.x":1,"constructor.prototype.y":2,"a":{"__proto__":{"z":3}},"toString":4}';
  const nested = nestSettings(flattenSettings(JSON.parse(given)));
  assert.equal(
    JSON.stringify(nested),
    '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"a":{"__proto__":{"z":3}},"toString":4}',
  );
  const other = {} as Readonly<Record<string, unknown>>;
  assert.deepEqual([other["x"], other["y"], other["z"]], [undefined, undefined, undefined]);
});
