import assert from "node:assert/strict";
import { test } from "node:test";
import { namesIn } from "./fields.ts";

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
