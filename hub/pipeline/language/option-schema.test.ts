import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TSchema } from "typebox";
import { convertText, defaultsOf, schemaFault, Type } from "./option-schema.ts";

/** What is said of a value; "": it fits. */
const ROWS: [schema: TSchema, value: unknown, message: string][] = [
  [Type.String(), "x", ""],
  [Type.String(), 5, "must be text"],
  [Type.Boolean(), "true", ""],
  [Type.Boolean(), "yes", "must be true or false"],
  [Type.Integer({ minimum: 1, maximum: 9 }), "9", ""],
  [Type.Integer(), 1.5, "must be a whole number"],
  [Type.Integer({ minimum: 1 }), 0, "must be at least 1"],
  [Type.Integer({ maximum: 9 }), 10, "must be at most 9"],
  [Type.Number({ exclusiveMinimum: 0 }), 0, "must be more than 0"],
  [Type.Number(), "1e3", ""],
  [Type.Number(), " ", "must be a number"],
  [Type.Number(), Number.POSITIVE_INFINITY, "must be a number"],
  [Type.Enum(["SHA1", "MD5"]), "MD5", ""],
  [Type.Enum(["SHA1", "MD5"]), "sha1", 'must be one of SHA1, MD5; did you mean "SHA1"?'],
  [Type.Enum([200, 204]), 500, "must be one of 200, 204"],
  [Type.Array(Type.Integer(), { minItems: 1 }), [], "must have at least 1 entries"],
  [Type.Array(Type.Integer()), [1, "x"], "1: must be a whole number"],
  [Type.Array(Type.Integer()), 1, "must be a list"],
  [Type.Record(Type.String(), Type.String()), { a: "b" }, ""],
  [Type.Record(Type.String(), Type.String()), { a: ["b"] }, "a: must be text"],
  [Type.Record(Type.String(), Type.Unknown()), ["b"], "must be a table"],
  [Type.Union([Type.Number(), Type.String()]), "5", ""],
  [Type.Union([Type.Number(), Type.String()]), [], "must be a number or text"],
  [Type.Unknown(), null, ""],
  [Type.Optional(Type.Integer()), "x", "must be a whole number"],
];

test("a value is held against its schema, text first turned into the number or flag asked for", () => {
  for (const [schema, value, expected] of ROWS) {
    const fault = schemaFault(schema, convertText(schema, value));
    const said = fault === undefined ? "" : [...fault.path, fault.message].join(": ");
    assert.equal(said, expected, `${JSON.stringify(value)} for ${JSON.stringify(schema)}`);
  }
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

test("nothing that threads of the pipeline load brings typebox along", () => {
  const folder = join(import.meta.dirname, "..");
  const loading = globSync("**/*.ts", { cwd: folder, exclude: ["**/*.test.ts"] }).filter((file) =>
    /^(?!import type )[^\n]*from "typebox/m.test(readFileSync(join(folder, file), "utf8")),
  );
  assert.deepEqual(loading, []);
});
