import assert from "node:assert/strict";
import { test } from "node:test";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { filterPath, PLAIN_ANSWER, renderAnswer } from "./answer.ts";

const VALUE = {
  took: 1,
  hits: {
    total: 2,
    hits: [
      { _id: "1", _source: { a: 1, b: 2 } },
      { _id: "2", _source: { b: 3 } },
    ],
  },
  "a.b": 1,
};

const PATHS: readonly (readonly [string, unknown])[] = [
  ["took", { took: 1 }],
  ["hits.hits._id", { hits: { hits: [{ _id: "1" }, { _id: "2" }] } }],
  ["hits.hits._source.a", { hits: { hits: [{ _source: { a: 1 } }] } }],
  ["**.b", { hits: { hits: [{ _source: { b: 2 } }, { _source: { b: 3 } }] } }],
  ["t*,h*.total", { took: 1, hits: { total: 2 } }],
  ["hits.*,-**._source,-hits.total", { hits: { hits: [{ _id: "1" }, { _id: "2" }] } }],
  ["-hits", { took: 1, "a.b": 1 }],
  ["a\\.b", { "a.b": 1 }],
  ["nothing", {}],
  ["hits.hits._i*d*", { hits: { hits: [{ _id: "1" }, { _id: "2" }] } }],
];

test("filter_path keeps what its patterns name and takes out what they name with a minus", () => {
  for (const [patterns, expected] of PATHS) assert.deepEqual(filterPath(VALUE, patterns), expected, patterns);
});

test("documents and large numbers keep their text, what isn't JSON becomes text", () => {
  const value = {
    raw: new RawJson(Buffer.from('{"n": 1.0}')),
    big: 12345678901234567890n,
    none: undefined,
    inf: Number.POSITIVE_INFINITY,
    nan: [Number.NaN, null, true],
  };
  assert.equal(
    writeJson(value),
    '{"raw":{"n": 1.0},"big":12345678901234567890,"inf":"Infinity","nan":["NaN",null,true]}',
  );
  assert.equal(
    writeJson({ a: { b: [1, "x"] }, c: {}, d: [] }, true),
    '{\n  "a" : {\n    "b" : [\n      1,\n      "x"\n    ]\n  },\n  "c" : { },\n  "d" : [ ]\n}\n',
  );
});

test("parts of an answer keep the texts of their numbers, except in YAML", () => {
  const raw = { status: 200, json: new RawJson(Buffer.from('{"max_score":1.0,"hits":[{"_score":1.0}]}')) };
  const bodyOf = (options: object): unknown => renderAnswer(raw, { ...PLAIN_ANSWER, ...options }).body;
  assert.equal(bodyOf({ filterPath: "max_score" }), '{"max_score":1.0}');
  assert.equal(bodyOf({ filterPath: "max_score.text" }), "{}");
  assert.equal(bodyOf({ format: "yaml", filterPath: "max_score" }), "---\nmax_score: 1\n");
});

test("YAML keeps all digits of whole numbers, whatever other numbers are in the answer", () => {
  for (const rest of ["", ',"_score":1.0']) {
    const json = new RawJson(Buffer.from(`{"a":[9007199254740993,-9007199254740993]${rest}}`));
    const { body } = renderAnswer(
      { status: 200, json },
      { ...PLAIN_ANSWER, format: "yaml", filterPath: "a" },
    );
    assert.equal(body, "---\na:\n  - 9007199254740993\n  - -9007199254740993\n");
  }
});
