import assert from "node:assert/strict";
import { test } from "node:test";
import { Event } from "#proto/event.ts";
import { codecs } from "./all.ts";

for (const definition of codecs.all) {
  const options = Object.fromEntries(
    Object.entries(definition.options.properties).flatMap(([name, schema]) =>
      "default" in schema ? [[name, schema.default]] : [],
    ),
  );
  const codec = definition.create(options);

  test(`${definition.name} documents itself and each option`, () => {
    assert.match(definition.description, /^[a-zA-Z].{5,}[^.]$/);
    for (const schema of Object.values(definition.options.properties)) {
      assert.ok((schema as { description?: string }).description);
    }
  });

  test(`${definition.name} reads back what it wrote`, () => {
    const event = new Event({ message: "one äöü\t2" }, 0);
    const [read, ...more] = codec.decode(codec.encode(event), 0);
    assert.equal(read!.toJson(), event.toJson());
    assert.deepEqual(more, []);
  });

  test(`${definition.name} makes events of any bytes`, () => {
    for (const bytes of [[0xff], [0x7b], [0x5b, 0x31, 0x5d], [0x0a, 0x61], [0x00]]) {
      const events = codec.decode(Buffer.from(bytes), 0);
      assert.ok(events.length > 0);
      for (const event of events) assert.ok(JSON.parse(event.toJson()));
    }
  });
}

test("json makes an event per item of a list, json_lines one per line, both tag what is no JSON", () => {
  const json = codecs.get("json")!.create({ charset: "UTF-8", target: "[t]" });
  assert.deepEqual(
    json.decode(Buffer.from('[{"a":1},{"a":2}]'), 0).map(({ fields }) => fields["t"]),
    [{ a: 1 }, { a: 2 }],
  );
  const lines = codecs.get("json_lines")!.create({ charset: "UTF-8", delimiter: "\n" });
  const events = lines.decode(Buffer.from('{"a":1}\r\nnope\n'), 0);
  assert.deepEqual(
    events.map(({ fields: { a, message, tags } }) => [a, message, tags]),
    [
      [1, undefined, undefined],
      [undefined, "nope", ["_jsonparsefailure"]],
    ],
  );
});
