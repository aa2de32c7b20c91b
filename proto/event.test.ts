import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { Event } from "./event.ts";
import { fieldReference } from "./field-reference.ts";
import { compileFormat } from "./format.ts";

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

test("tags that are neither a text nor a list of texts go under _tags, and lose nothing", () => {
  const rows: [tags: unknown, tagged: unknown, displaced: unknown][] = [
    ["one", ["one", "new"], undefined],
    [["one"], ["one", "new"], undefined],
    [null, ["new"], undefined],
    [7, ["_tagsparsefailure", "new"], [7]],
    [{ env: "test" }, ["_tagsparsefailure", "new"], [{ env: "test" }]],
    [["one", 2], ["_tagsparsefailure", "new"], [["one", 2]]],
  ];
  for (const [tags, tagged, displaced] of rows) {
    const event = new Event({ tags }, 0);
    event.tag("new");
    assert.deepEqual([event.fields["tags"], event.fields["_tags"]], [tagged, displaced]);
  }
  const later = new Event({}, 0);
  later.set(fieldReference("tags"), 7);
  later.tag("new");
  assert.deepEqual([later.fields["tags"], later.fields["_tags"]], [["new"], [7]]);
});

test("a time that is null is that of arrival, a date is its midnight, other values are kept beside a tag", () => {
  const rows: [time: unknown, iso: string, kept: unknown][] = [
    [null, "1970-01-01T00:00:00.005Z", undefined],
    ["2031-02-03T04:05:06+01:00", "2031-02-03T03:05:06.000Z", undefined],
    ["2031-02-03", new Date("2031-02-03T00:00:00").toISOString(), undefined],
    ["2031-02-33", "1970-01-01T00:00:00.005Z", "2031-02-33"],
    [12, "1970-01-01T00:00:00.005Z", 12],
  ];
  for (const [time, iso, kept] of rows) {
    const { fields } = new Event({ "@timestamp": time }, 5);
    assert.deepEqual([String(fields["@timestamp"]), fields["_@timestamp"]], [iso, kept]);
    assert.deepEqual(fields["tags"], kept === undefined ? undefined : ["_timestampparsefailure"]);
  }
});

test("a format in double braces is a pattern of java.time", () => {
  const event = new Event({}, Date.UTC(2031, 0, 1, 4, 5, 6, 78));
  for (const [format, text] of [
    ["%{{uuuu-MM-dd'T'HH:mm:ss.SSSXXX}}", "2031-01-01T04:05:06.078Z"],
    ["%{{YYYY-'W'ww}} %{{yy}}", "2031-W01 31"],
    ["%{{HHmmss x xx xxx Z}}", "040506 +00 +0000 +00:00 +0000"],
    ["%{{yyyy'Q'q}} %{{LLL}} %{{n}} %{{A}}", "2031Q1 Jan 78000000 14706078"],
    ["%{+xxxx-ww}", "2031-01"],
  ] as const)
    assert.equal(compileFormat(format)(event), text);
});

test("brackets within brackets are one reference", () => {
  const references: [text: string, path: string[] | undefined][] = [
    ["[[foo]][bar]", ["foo", "bar"]],
    ["[[foo][bar]][baz]", ["foo", "bar", "baz"]],
    ["[[foo][bar]]", ["foo", "bar"]],
    ["foo", ["foo"]],
    ...[
      "[[foo][bar]nope][baz]",
      "[nope[foo][bar]][baz]",
      "[foo][bar][baz",
      "foo[bar][baz]",
      "[foo]bar[baz]",
    ].map((text): [string, undefined] => [text, undefined]),
    ...["[", "]", "[]", "[[[[[[[[[[[]", "[foo]][bar]", "[this[is]terrible]", "this[index]", "[foo]x"].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ];
  for (const [text, path] of references) {
    if (path === undefined) assert.throws(() => fieldReference(text), /isn't a field reference/, text);
    else assert.deepEqual(fieldReference(text).path, path);
  }
});
