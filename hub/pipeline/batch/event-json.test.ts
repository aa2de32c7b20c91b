import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { jsonShape } from "#proto/codec/json-shape.ts";
import { Timestamp } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { EventJson } from "./event-json.ts";
import { JsonWriter } from "./json-writer.ts";

const raw = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

const json = new JsonWriter(16);
const written = new EventJson(json);

function valueShape(fields: JsonObject): number {
  json.at = 0;
  return written.write(fields);
}

/** Documents by their shape: those of one row have the same one. */
const SHAPES: readonly (readonly JsonObject[])[] = [
  [{}, { a: undefined }],
  [{ a: 1 }, { a: "x" }, { a: true }, { a: new Timestamp(0) }, { a: raw("1e400") }, { a: 1, b: undefined }],
  [{ a: null }, { a: Number.NaN }, { a: Number.POSITIVE_INFINITY }],
  [{ a: [] }],
  [{ a: [1] }, { a: ["x", 2, false] }],
  [{ a: [null] }, { a: [undefined] }],
  [{ a: [1, null] }, { a: ["x", "y", null] }],
  [{ a: [[1]] }, { a: [["x", "y"]] }],
  [{ a: [[1], [2]] }],
  [{ a: {} }],
  [{ a: { b: 1 } }],
  [{ a: { b: 1 }, c: 1 }],
  [{ a: { b: 1, c: 1 } }],
  [{ c: 1, a: { b: 1 } }],
  [{ a: [{ b: 1 }] }],
  [{ a: [{ b: 1 }, { b: 1 }] }],
  [{ b: 1 }],
  [{ "": 1 }],
  [JSON.parse('{"__proto__":{"b":1}}') as JsonObject],
];

const TEXTS = ["", "a", "é", "\u{1f600}", "\ud800", '"', "\\", "\n\u0000\u001f", "\u007f", "\u2028"];

const NUMBERS = [0, -0, 1, -1, 1.5, 1e21, 2 ** 53, 2 ** 53 - 1, Number.NaN, Number.NEGATIVE_INFINITY];
const OTHERS = [true, false, null, undefined, () => 1, Symbol("a"), new Date(5), Object.create(null)];

/** What JSON writes in many ways. */
const VALUES: readonly unknown[] = [
  ...TEXTS,
  ...TEXTS.map((text) => `${"long ".repeat(8)}${text}${text} and on`),
  ...NUMBERS,
  ...OTHERS,
  new Timestamp(1_234_567),
  raw("1e400"),
  [undefined, () => 1, [], [[1, { a: [] }]], null, "a", 1],
  { a: { b: { c: undefined } }, "": 0, 'na"me': 1 },
];

test("an event is written as JSON.stringify writes it", () => {
  const events: JsonObject[] = VALUES.map((value) => ({ value, list: [value, value], object: { value } }));
  for (const fields of [...events, Object.fromEntries(VALUES.map((value, place) => [`f${place}`, value]))]) {
    valueShape(fields);
    assert.equal(json.bytes.toString("utf8", 0, json.at), JSON.stringify(fields));
  }
});

test("what events share is written as if it were each one's own", () => {
  const shared: JsonObject = {
    host: { name: "a", list: [1, null] },
    kind: "x",
    none: null,
    all: [1, { a: 2 }],
  };
  const writer = new EventJson(json, shared);
  const { host, kind, ...others } = shared;
  const events: JsonObject[] = [
    { ...shared, b: 1 },
    { ...shared, b: 2 },
    { ...shared },
    { host: { name: "a" } },
    { host, kind, b: 1 },
    { host, kind: "y", ...others },
    { b: 1, host, kind },
    { ...shared, b: 3 },
  ];
  const shapes = events.map((fields) => {
    json.at = 0;
    const shape = writer.write(fields);
    assert.equal(json.bytes.toString("utf8", 0, json.at), JSON.stringify(fields));
    return shape;
  });
  assert.equal(shapes[0], shapes[1]);
  assert.equal(shapes[0], shapes[7]);
  assert.equal(shapes[2], shapes[5]);
  assert.equal(new Set(shapes).size, 5);
});

test("a text that is part of the line is written from the line's bytes as JSON.stringify writes it", () => {
  const writer = new EventJson(json);
  for (const text of VALUES.filter((value) => typeof value === "string").map((value) =>
    value.toWellFormed(),
  )) {
    const bytes = Buffer.from(`before ${text} behind`);
    const start = "before ".length;
    writer.line = { text, bytes, start, end: start + Buffer.byteLength(text) };
    for (const message of [text, `${text} changed`, `another ${text}`]) {
      json.at = 0;
      writer.write({ message, list: [message] });
      assert.equal(json.bytes.toString("utf8", 0, json.at), JSON.stringify({ message, list: [message] }));
    }
  }
});

suite("the shape of a document that is an object", () => {
  test("gives equal shapes for the same documents as the shape of the JSON does", () => {
    const all = SHAPES.flat();
    for (const one of all) {
      for (const other of all) {
        const [first, second] = [one, other].map((each) => jsonShape(Buffer.from(JSON.stringify(each))));
        assert.equal(
          valueShape(one) === valueShape(other),
          first === second,
          `${JSON.stringify(one)} ${JSON.stringify(other)}`,
        );
      }
    }
  });

  test("is one per row", () => {
    const shapes = SHAPES.map((row) => new Set(row.map(valueShape)));
    assert.deepEqual(
      shapes.map((row) => row.size),
      SHAPES.map(() => 1),
    );
    assert.equal(new Set(shapes.flatMap((row) => [...row])).size, SHAPES.length);
  });

  test("doesn't meet another one by chance, nor when names are forgotten", () => {
    const shapes = new Set<number>();
    for (let number = 0; number < 9_000; number++)
      shapes.add(valueShape({ [`f${number}`]: { [`g${number % 7}`]: 1 } }));
    assert.equal(shapes.size, 9_000);
    for (const shape of shapes) assert.ok(Number.isSafeInteger(shape) && shape >= 0);
  });
});
