import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping, type MappingOptions } from "./mapping.ts";

const options: MappingOptions = { index: "test", analysis: new Analysis() };

/** As templates of shippers of 7.x have them. */
const PROPERTIES = {
  dataset: { type: "constant_keyword", value: "nginx" },
  labels: { type: "flattened", depth_limit: 5 },
  text: { type: "match_only_text" },
  url: { type: "wildcard", ignore_above: 1024, fields: { text: { type: "text", norms: false } } },
};

suite("types of later versions", () => {
  const mapping = Mapping.parse({ properties: PROPERTIES }, options);

  test("are kept as the types of 6.5 that do the same, and shown as they were given", () => {
    assert.deepEqual(JSON.parse(JSON.stringify(mapping)), { properties: PROPERTIES });
    assert.deepEqual(
      ["dataset", "url", "url.text", "text"].map((path) => mapping.field(path)?.type),
      ["keyword", "keyword", "text", "text"],
    );
    assert.equal(mapping.field("url")?.ignoreAbove, 1024);
  });

  test("that hold objects of any keys add no fields, and searches find each key as a keyword", () => {
    assert.deepEqual(
      ["labels", "labels.a.b", "labelsx"].map((path) => mapping.resolve(path)?.type),
      ["keyword", "keyword", undefined],
    );
    assert.equal(mapping.field("labels")?.type, "flattened");
    const document = Buffer.from('{"labels":{"a":"b","c":{"d":1}}}');
    assert.equal(mapping.dynamicUpdate(document, false), null);
    assert.throws(
      () => mapping.merge({ properties: { labels: { type: "keyword" } } }),
      /current_type \[flattened\]/,
    );
  });

  for (const [given, message] of [
    [{ l: { type: "flattened", depth_limit: "deep" } }, /\[depth_limit\] cannot be \[deep\]/],
    [{ l: { type: "flattened", depth_limit: -1 } }, /\[depth_limit\] cannot be \[-1\]/],
    [{ t: { type: "text", fields: { l: { type: "flattened" } } } }, /\[t\.l\].*can't be a multi-field/],
    [{ l: { type: "flattened" }, t: { type: "text", copy_to: "l" } }, /\[copy_to\] of field \[t\]/],
    [{ l: { type: "flattened" }, t: { type: "text", copy_to: "l.a" } }, /\[copy_to\] of field \[t\]/],
  ] as const) {
    test(`with objects are refused in ${JSON.stringify(given)}`, () => {
      assert.throws(() => Mapping.parse({ properties: given }, options), message);
    });
  }
});
