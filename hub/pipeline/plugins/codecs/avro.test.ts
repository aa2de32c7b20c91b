import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { AvroWriter } from "#hub/pipeline/formats/avro-bytes.ts";
import { parseEventJson } from "#proto/codec/json.ts";
import { Event } from "#proto/event.ts";
import { avroCodec } from "./avro.ts";

function make(
  t: TestContext,
  schema: unknown,
  options: {
    encoding?: "binary" | "base64";
    framing?: "auto" | "plain" | "registry";
    target?: string;
  } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-avro-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "schema.avsc");
  writeFileSync(path, JSON.stringify(schema));
  return avroCodec.create({ schema_uri: path, encoding: "binary", framing: "auto", ...options });
}

const SCHEMA = {
  type: "record",
  name: "Line",
  namespace: "shop.logs",
  fields: [
    { name: "message", type: "string" },
    { name: "n", type: "long" },
    { name: "ratio", type: "double", default: 0.5 },
    { name: "ok", type: ["null", "boolean"], default: null },
    { name: "level", type: { type: "enum", name: "Level", symbols: ["low", "high"] } },
    { name: "tags", type: { type: "array", items: "string" } },
    { name: "counts", type: { type: "map", values: "int" } },
    { name: "id", type: { type: "fixed", name: "Id", size: 2 } },
    { name: "at", type: { type: "long", logicalType: "timestamp-millis" } },
    { name: "day", type: { type: "int", logicalType: "date" } },
    { name: "cause", type: ["null", "Line", "shop.logs.Level"], default: null },
  ],
};

const LINE = {
  message: "äb",
  n: -3,
  ratio: 0.25,
  ok: true,
  level: "high",
  tags: ["a", "b"],
  counts: { x: 300 },
  id: "beef",
  at: "2031-02-03T04:05:06.007Z",
  day: "2031-02-03",
};

function fieldsOf(event: Event): Record<string, unknown> {
  const { "@timestamp": _, ...fields } = event.fields;
  return fields;
}

test("avro reads back records of every type, nested ones too, in binary and in base64", (t) => {
  const record = { ...LINE, cause: { ...LINE, n: String(2n ** 62n), cause: "low" } };
  for (const encoding of ["binary", "base64"] as const) {
    const codec = make(t, SCHEMA, { encoding });
    const bytes = codec.encode(new Event(structuredClone(record), 0));
    assert.deepEqual(codec.decode(bytes, 0).map(fieldsOf), [record]);
  }
  const codec = make(t, SCHEMA, { encoding: "base64", target: "[doc]" });
  const binary = make(t, SCHEMA).encode(new Event({ ...LINE }, 0));
  assert.deepEqual(codec.decode(binary, 0).map(fieldsOf), [{ doc: { ...LINE, cause: null } }]);
});

test("avro writes and reads the bytes of its specification", (t) => {
  const codec = make(t, {
    type: "record",
    name: "R",
    fields: [
      { name: "a", type: "long" },
      { name: "b", type: "string" },
      { name: "c", type: { type: "array", items: "int" } },
      { name: "d", type: "float" },
    ],
  });
  const bytes = Buffer.from([0x36, 0x06, 0x66, 0x6f, 0x6f, 0x04, 0x01, 0x80, 0x01, 0x00, 0, 0, 0xc0, 0x3f]);
  const record = { a: 27, b: "foo", c: [-1, 64], d: 1.5 };
  assert.deepEqual(Buffer.from(codec.encode(new Event({ ...record }, 0))), bytes);
  assert.deepEqual(codec.decode(bytes, 0).map(fieldsOf), [record]);
  // A block that says its own length.
  const blocks = Buffer.concat([
    bytes.subarray(0, 5),
    Buffer.from([0x03, 0x06, 0x01, 0x80, 0x01, 0, 0, 0, 0xc0, 0x3f]),
  ]);
  assert.deepEqual(codec.decode(blocks, 0).map(fieldsOf), [record]);
});

test("avro writes decimals without a fraction and long integers of JSON, and reads such decimals", (t) => {
  const schema = {
    type: "record",
    name: "R",
    fields: [
      { name: "a", type: "double" },
      { name: "b", type: "long" },
      { name: "c", type: { type: "bytes", logicalType: "decimal", precision: 4, scale: 0 } },
      { name: "d", type: ["null", "float"] },
    ],
  };
  const codec = make(t, schema, { framing: "plain" });
  const fields = parseEventJson('{"a":30.0,"b":9007199254740993,"c":7.0,"d":2.0}') as Record<string, unknown>;
  const [event] = codec.decode(codec.encode(new Event(fields, 0)), 0);
  assert.equal(JSON.stringify(fieldsOf(event!)), '{"a":30.0,"b":"9007199254740993","c":"7","d":2.0}');
});

test("avro reads a record behind the head that serializers of a schema registry write", (t) => {
  const codec = make(t, SCHEMA);
  const record = codec.encode(new Event({ ...LINE }, 0));
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 1, 7]), record]);
  assert.deepEqual(codec.decode(framed, 0).map(fieldsOf), [{ ...LINE, cause: null }]);
});

test("avro reads records with and without a registry's head as framing says, and tags what may be either", (t) => {
  const five = {
    type: "record",
    name: "Five",
    fields: ["a", "b", "c", "d", "e"].map((name) => ({ name, type: "string" })),
  };
  const record = { a: "", b: "", c: "", d: "", e: "x".repeat(42) };
  const plain = make(t, five).encode(new Event({ ...record }, 0));
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, 84]), plain]);
  const read = (bytes: Uint8Array, framing: "auto" | "plain" | "registry") =>
    fieldsOf(make(t, five, { framing }).decode(bytes, 0)[0]!);
  // Also a record of its own: four empty texts, and one of 42 bytes.
  const both = Buffer.concat([
    Buffer.from([0, 0, 0, 0, 84]),
    Buffer.alloc(4),
    Buffer.from([74]),
    Buffer.alloc(37, "x"),
  ]);
  const inner = { a: "", b: "", c: "", d: "", e: "x".repeat(37) };
  assert.deepEqual(read(plain, "auto"), record);
  assert.deepEqual(read(plain, "plain"), record);
  assert.deepEqual(read(plain, "registry")["tags"], ["_avroparsefailure"]);
  assert.deepEqual(read(framed, "auto"), record);
  assert.deepEqual(read(framed, "registry"), record);
  assert.deepEqual(read(framed, "plain")["tags"], ["_avroparsefailure"]);
  assert.deepEqual(read(both, "auto"), { ...inner, tags: ["_avroframingambiguous"] });
  assert.deepEqual(read(both, "registry"), inner);
  assert.equal(read(both, "plain")["e"], `\0\0\0\0J${"x".repeat(37)}`);
  assert.deepEqual(read(Buffer.from([1, 0, 0, 0, 84]), "registry")["tags"], ["_avroparsefailure"]);
});

test("avro reads and writes points in time exactly, in every unit", (t) => {
  const units = { millis: 1n, micros: 1_000n, nanos: 1_000_000n };
  for (const [unit, perMs] of Object.entries(units)) {
    const codec = make(t, {
      type: "record",
      name: "R",
      fields: [{ name: "at", type: { type: "long", logicalType: `timestamp-${unit}` } }],
    });
    for (const ms of [1_927_771_446_007, 1_927_771_446_123, 1_700_000_000_001, -1]) {
      const at = new Date(ms).toISOString();
      const bytes = codec.encode(new Event({ at }, 0));
      const writer = new AvroWriter();
      writer.long(BigInt(ms) * perMs);
      assert.deepEqual(Buffer.from(bytes), writer.bytes, `${unit} ${ms}`);
      assert.deepEqual(codec.decode(bytes, 0).map(fieldsOf), [{ at }]);
    }
  }
});

test("avro reads bytes that aren't text in base64, and decimals as their text", (t) => {
  const decimal = { logicalType: "decimal", precision: 6, scale: 2 };
  const codec = make(t, {
    type: "record",
    name: "R",
    fields: [
      { name: "text", type: "bytes" },
      { name: "binary", type: "bytes" },
      { name: "price", type: { type: "bytes", ...decimal } },
      { name: "sum", type: { type: "fixed", name: "Sum", size: 4, ...decimal } },
    ],
  });
  const bytes = Buffer.from([6, 0x61, 0xc3, 0xa4, 6, 0xff, 0xfe, 0, 4, 0xfb, 0x2e, 0, 0, 0, 5]);
  const record = { text: "aä", binary: "//4A", price: "-12.34", sum: "0.05" };
  assert.deepEqual(codec.decode(bytes, 0).map(fieldsOf), [record]);
  for (const price of ["-12.34", "0.00", "9999.99", "-9999.99", "1.28", "-1.28"]) {
    const values = { ...record, price, sum: price };
    const written = codec.encode(new Event({ ...values }, 0));
    assert.deepEqual(codec.decode(written, 0).map(fieldsOf), [values]);
  }
  assert.equal(
    codec.decode(codec.encode(new Event({ ...record, sum: 1.5 }, 0)), 0)[0]!.fields["sum"],
    "1.50",
  );
  for (const sum of ["10000.00", "0.001", "1e3", 1e21, "NaN"])
    assert.throws(() => codec.encode(new Event({ ...record, sum }, 0)), /field sum/);
});

test("avro fills in what the schema says, and names the field that an event can't fill", (t) => {
  const codec = make(t, SCHEMA);
  const { ratio: _, ok: __, ...rest } = LINE;
  const [read] = codec.decode(codec.encode(new Event({ ...rest }, 0)), 0);
  assert.partialDeepStrictEqual(read!.fields, { ratio: 0.5, ok: null });
  assert.throws(() => codec.encode(new Event({ ...LINE, n: "many" }, 0)), /field n can't be made/);
  assert.throws(() => codec.encode(new Event({ ...LINE, level: "none" }, 0)), /field level can't be made/);
});

test("avro tags what isn't of the schema, and takes no message for more than it holds", (t) => {
  const codec = make(t, SCHEMA);
  const bytes = codec.encode(new Event({ ...LINE }, 0));
  const nothing = make(t, {
    type: "record",
    name: "R",
    fields: [{ name: "l", type: { type: "array", items: "null" } }],
  });
  const list = { type: "record", name: "L", fields: [{ name: "next", type: ["null", "L"] }] };
  for (const [each, payload, reason] of [
    [codec, bytes.subarray(0, -1), /ends? within a value/],
    [codec, Buffer.concat([bytes, Buffer.alloc(1)]), /bytes follow/],
    [codec, Buffer.alloc(12, 0xff), /64 bits/],
    [nothing, Buffer.from([0xfe, 0xff, 0xff, 0xff, 0x0f, 0]), /more than 1000000 values/],
    [make(t, list), Buffer.alloc(900_000, 2), /more than 64 nested records/],
  ] as const) {
    const [event] = each.decode(payload, 0);
    assert.deepEqual(event!.fields["tags"], ["_avroparsefailure"]);
    assert.match((event!.fields["error"] as { message: string }).message, reason);
  }
});

test("avro refuses a schema that is none", (t) => {
  for (const [schema, reason] of [
    ["none", /no type "none"/],
    [{ type: "record", name: "R" }, /R has no fields/],
    [{ type: "record", name: "R", fields: [{ name: "a", type: "Other" }] }, /no type "Other"/],
  ] as const)
    assert.throws(() => make(t, schema), reason);
  assert.throws(
    () => avroCodec.create({ schema_uri: "https://registry.example/1", encoding: "binary", framing: "auto" }),
    /schemas aren't fetched/,
  );
});
