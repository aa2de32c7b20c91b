import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { Event } from "./event.ts";
import { fieldReference } from "./field-reference.ts";

test("a removed field leaves the others unchanged, whatever their number and names", () => {
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

test("what an event shares with others changes for itself alone, however it is come by", () => {
  const changes: readonly ((event: Event) => void)[] = [
    (event) => event.set(fieldReference("[host][name]"), "b"),
    (event) => event.set(fieldReference("[host][ip][0]"), "b"),
    (event) => void event.remove(fieldReference("[host][name]")),
    (event) => void event.remove(fieldReference("[host][ip][0]")),
    (event) => ((event.get(fieldReference("host")) as JsonObject)["name"] = "b"),
    (event) => (event.get(fieldReference("[host][ip]")) as string[]).push("b"),
    (event) => ((event.fields["host"] as JsonObject)["name"] = "b"),
    (event) => ((event.clone().fields["host"] as JsonObject)["name"] = "b"),
    (event) => ((event.remove(fieldReference("host")) as JsonObject)["name"] = "b"),
  ];
  for (const change of changes) {
    const shared = { host: { name: "a", ip: ["1", "2"] } };
    const [one, other] = [1, 2].map((n) => new Event({ ...shared, n }, 0, shared));
    assert.equal(one!.get(fieldReference("[host][name]")), "a");
    assert.equal(one!.rawFields["host"], shared.host);
    change(one!);
    assert.deepEqual(shared, { host: { name: "a", ip: ["1", "2"] } });
    assert.deepEqual(other!.fields["host"], shared.host);
  }
});

test("a removed field is gone, until it is set again", () => {
  const a = fieldReference("a");
  const event = new Event({ a: 1, b: 2 }, 0);
  event.remove(a);
  assert.equal(event.has(a), false);
  assert.equal(event.toJson(), '{"b":2,"@timestamp":"1970-01-01T00:00:00.000Z"}');
  assert.deepEqual(Object.keys(event.clone().fields), ["b", "@timestamp"]);
  event.set(a, 3);
  assert.equal(event.get(a), 3);
  event.remove(a);
  assert.deepEqual(Object.keys(event.fields), ["b", "@timestamp"]);
});

test("references are kept unless they are as long as only texts of senders are", () => {
  assert.equal(fieldReference("[a][b]"), fieldReference("[a][b]"));
  assert.notEqual(fieldReference("x".repeat(1_000)), fieldReference("x".repeat(1_000)));
});
