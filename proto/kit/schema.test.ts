import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TSchema } from "typebox";
import { convert, defaultsOf, readObject, schemaFault, Type } from "./schema.ts";

const POINT = Type.Object(
  { x: Type.Integer(), y: Type.Integer({ default: 7 }) },
  { additionalProperties: false },
);

/** The fault of a value after conversion; empty: it fits. */
const ROWS: [schema: TSchema, value: unknown, message: string][] = [
  [Type.String(), "x", ""],
  [Type.String(), 5, ""],
  [Type.String(), ["x"], "must be text"],
  [Type.String({ minLength: 1 }), "", "must be text that isn't empty"],
  [Type.String({ maxLength: 2 }), "abc", "must be text of at most 2 characters"],
  [Type.String({ pattern: "^a$" }), "b", "must match ^a$"],
  [Type.Boolean(), "true", ""],
  [Type.Boolean(), 0, ""],
  [Type.Boolean(), "yes", "must be true or false; write true"],
  [Type.Boolean(), "maybe", "must be true or false"],
  [Type.Integer({ minimum: 1, maximum: 9 }), "9", ""],
  [Type.Integer(), 1.5, "must be a whole number"],
  [Type.Integer({ truncate: true }), "1.5", ""],
  [Type.Integer({ minimum: 1 }), 0, "must be at least 1"],
  [Type.Integer({ maximum: 9 }), 10, "must be at most 9"],
  [Type.Number({ exclusiveMinimum: 0 }), 0, "must be more than 0"],
  [Type.Number(), "1e3", ""],
  [Type.Number(), " ", "must be a number"],
  [Type.Number(), Number.POSITIVE_INFINITY, "must be a number"],
  [Type.Enum(["SHA1", "MD5"]), "MD5", ""],
  [Type.Enum(["SHA1", "MD5"]), "sha1", 'must be one of SHA1, MD5; did you mean "SHA1"?'],
  [Type.Enum(["SHA1", "MD5"], { ignoreCase: true }), "sha1", ""],
  [Type.Enum([200, 204]), 500, "must be one of 200, 204"],
  [Type.Enum([200, 204]), "204", ""],
  [Type.Enum(["", "a b"]), "c", 'must be one of "", "a b"'],
  [Type.Union([Type.Literal("a"), Type.Literal(1)]), "1", ""],
  [
    Type.Union([Type.Literal("udp"), Type.Literal("tcp")]),
    "tcpp",
    'must be one of udp, tcp; did you mean "tcp"?',
  ],
  [Type.Array(Type.Integer(), { minItems: 1 }), [], "must be a list of at least 1"],
  [Type.Array(Type.Integer(), { maxItems: 1 }), [1, 2], "must be a list of at most 1"],
  [Type.Array(Type.Integer()), [1, "x"], "1: must be a whole number"],
  [Type.Array(Type.Integer()), "1", ""],
  [Type.Record(Type.String(), Type.String()), { a: "b" }, ""],
  [Type.Record(Type.String(), Type.String()), { a: ["b"] }, "a: must be text"],
  [Type.Record(Type.String(), Type.Unknown()), ["b"], "must be an object"],
  [Type.Record(Type.String({ pattern: "^k" }), Type.Unknown()), { a: 1 }, 'has an unknown property "a"'],
  [Type.Union([Type.Number(), Type.String()]), "5", ""],
  [Type.Union([Type.Number(), Type.String()]), [], "must be a number or text"],
  [Type.Unknown(), null, ""],
  [Type.Null(), null, ""],
  [Type.Optional(Type.Integer()), "x", "must be a whole number"],
  [POINT, { x: "1" }, ""],
  [POINT, { y: 1 }, 'lacks the property "x"'],
  [POINT, { x: 1, xx: 1 }, 'has an unknown property "xx"; did you mean "x"?'],
  [Type.Array(POINT), [{ x: 1 }, { x: "a" }], "1: x: must be a whole number"],
];

test("a value is converted to its schema's type and checked against the schema", () => {
  for (const [schema, value, expected] of ROWS) {
    const fault = schemaFault(schema, convert(schema, value));
    const text = fault === undefined ? "" : [...fault.path, fault.message].join(": ") + fault.hint;
    assert.equal(text, expected, `${JSON.stringify(value)} for ${JSON.stringify(schema)}`);
  }
});

test("a conversion fills in defaults within objects and leaves the given value as it was", () => {
  const given = [{ x: "1" }];
  assert.deepEqual(convert(Type.Array(POINT), given), [{ x: 1, y: 7 }]);
  assert.deepEqual(given, [{ x: "1" }]);
});

test("an object is read with conversions and defaults, and refused at its first fault", () => {
  const refuse = ({
    kind,
    name,
    message,
    hint,
  }: {
    kind: string;
    name: string;
    message: string;
    hint: string;
  }) => new Error(`${kind} ${name} ${message}${hint}`);
  assert.deepEqual(readObject(POINT, { x: "2", y: undefined }, refuse), { x: 2, y: 7 });
  assert.throws(() => readObject(POINT, { z: 1, x: 1 }, refuse), {
    message: 'unknown z ; did you mean "x"?',
  });
  assert.throws(() => readObject(POINT, { x: null }, refuse), { message: "missing x " });
  assert.throws(() => readObject(POINT, { x: "a" }, refuse), { message: "value x must be a whole number" });
});

test("an optional property isn't required, and defaults are copies", () => {
  const options = Type.Object({
    a: Type.Array(Type.String(), { default: ["x"] }),
    b: Type.Optional(Type.Integer()),
    c: Type.Boolean(),
  });
  assert.deepEqual(options.required, ["a", "c"]);
  assert.deepEqual(defaultsOf(options), { a: ["x"] });
  (defaultsOf(options)["a"] as string[]).push("y");
  assert.deepEqual(defaultsOf(options), { a: ["x"] });
  assert.equal(JSON.stringify(options.properties.b), '{"type":"integer"}');
});

test("no part of the product loads typebox, whose types it uses", () => {
  const root = join(import.meta.dirname, "../..");
  const loading = globSync("{proto,agent,hub}/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] }).filter(
    (file) => /^(?!import type )[^\n]*from "typebox/m.test(readFileSync(join(root, file), "utf8")),
  );
  assert.deepEqual(loading, []);
});
