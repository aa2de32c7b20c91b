import assert from "node:assert/strict";
import { test } from "node:test";
import { isNumber, namesIn, readFields } from "./fields.ts";

test("the fields of the lines in sight are found, objects among them, and no further line is looked into", () => {
  const row = (...names: string[]) => ({ fields: new Map(names.map((name) => [name, 1])) });
  const near = [row("message", "client.geo.location.lat"), row("message", "host.name")];
  assert.deepEqual([...namesIn(near)].toSorted(), [
    "client",
    "client.geo",
    "client.geo.location",
    "client.geo.location.lat",
    "host",
    "host.name",
    "message",
  ]);
  assert.equal(namesIn([...Array.from({ length: 100 }, () => row("a")), row("b")]).has("b"), false);
});

test("a field is a number where it is one in all indices", () => {
  const capability = { searchable: true, aggregatable: true };
  const fields = readFields({
    fields: {
      took: { long: capability },
      share: { scaled_float: capability },
      mixed: { long: capability, keyword: capability },
      host: { keyword: capability },
    },
  });
  const names = ["took", "share", "mixed", "host", "unknown"];
  assert.deepEqual(
    names.filter((name) => isNumber(fields.get(name))),
    ["took", "share"],
  );
});
