import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppError } from "#proto/kit/errors.ts";
import { Analysis } from "../analysis/analysis.ts";
import { Mapping } from "./mapping.ts";

const MAPPING = Mapping.parse({}, { index: "test", analysis: new Analysis() });

/** Reasons of 6.5.4; the second one is that of the cause. */
const REFUSED: readonly (readonly [document: object, reason: string, cause?: string])[] = [
  [
    { _id: "x" },
    "Field [_id] is a metadata field and cannot be added inside a document. Use the index API request parameters.",
  ],
  [
    { _routing: "x" },
    "Field [_routing] is a metadata field and cannot be added inside a document. Use the index API request parameters.",
  ],
  [
    { "_id.x": "x" },
    "Field [_id] is a metadata field and cannot be added inside a document. Use the index API request parameters.",
  ],
  [
    { "_routing.": "x" },
    "Field [_routing] is a metadata field and cannot be added inside a document. Use the index API request parameters.",
  ],
  [{ "": "x" }, "failed to parse", "field name cannot be an empty string"],
  [{ o: { "": "x" } }, "failed to parse", "field name cannot be an empty string"],
  [
    { "a..b": "x" },
    "failed to parse",
    "object field starting or ending with a [.] makes object resolution ambiguous: [a..b]",
  ],
  [
    { ".a": "x" },
    "failed to parse",
    "object field starting or ending with a [.] makes object resolution ambiguous: [.a]",
  ],
  [{ "a. .b": "x" }, "failed to parse", "object field cannot contain only whitespace: ['a. .b']"],
];

for (const [document, reason, cause] of REFUSED)
  test(`the document ${JSON.stringify(document)} is refused, and leaves no field when it is lenient`, () => {
    const source = Buffer.from(JSON.stringify(document));
    assert.throws(
      () => MAPPING.dynamicUpdate(source),
      (error: AppError) => {
        assert.equal(error.code, "mapping_parse");
        assert.equal(error.message, reason);
        assert.equal((error.data["caused_by"] as { reason: string } | undefined)?.reason, cause);
        return true;
      },
    );
    const update = MAPPING.dynamicUpdate(source, true);
    assert.doesNotMatch(JSON.stringify(update), /_id|_routing/);
    MAPPING.merge(update);
  });

test("names of metadata are allowed within objects, and a blank name is one", () => {
  for (const document of [{ o: { _id: "x" } }, { " ": "x" }, { _foo: "x" }])
    assert.notEqual(MAPPING.dynamicUpdate(Buffer.from(JSON.stringify(document))), null);
});

test("a mapping can't define a field with the name of metadata, unless it is already stored so", () => {
  const json = { properties: { _id: { type: "keyword" } } };
  assert.throws(() => MAPPING.merge(json), { message: "Field [_id] is defined twice in [_doc]" });
  const stored = Mapping.parse(json, { index: "test", analysis: new Analysis({}, { isStored: true }) });
  assert.equal(stored.field("_id")?.type, "keyword");
  stored.merge({ properties: { a: { type: "keyword" }, _id: { type: "keyword" } } });
});
