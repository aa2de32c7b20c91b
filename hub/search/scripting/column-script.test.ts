import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { COLUMN_BLOCK } from "#hub/engine/searcher/searcher.ts";
import type { Script } from "#hub/scripts/script.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { ShardContext } from "#hub/search/query/query.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { ColumnScript } from "./column-script.ts";
import { DocValues } from "./doc-values.ts";
import { numberOn, readScoreScript } from "./document-script.ts";

const DOCUMENTS = [
  { n: 0, m: 3, x: 1.5, host: "a", ok: true, at: "2018-03-24T23:30:00Z" },
  { n: 7, m: -2, x: -0.25, host: "b", ok: false, at: "1969-03-24T23:30:00Z" },
  { n: 9_007_199_254_740_991, m: 9_007_199_254_740_991, x: 1e308, host: "ü", ok: true },
  { m: 0, x: 0, host: "" },
  { n: -5, m: 2, x: -1e-300, ok: false },
  {},
];

const fixture = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      m: { type: "integer" },
      x: { type: "double" },
      many: { type: "long" },
      host: { type: "keyword" },
      ok: { type: "boolean" },
      at: { type: "date" },
      text: { type: "text" },
    },
  },
  docs: DOCUMENTS.map((each) => (each.m === 9_007_199_254_740_991 ? { ...each, m: 2_147_483_647 } : each)),
});
after(() => fixture.close());

const [found] = fixture.shards;
const shard = new ShardContext(found!.index, 0, found!.searcher, 0);
const [segment] = found!.searcher.segments;
const SCORES = Float64Array.from([1.5, 2, 0.1, 3, 4, 5]);
const PARAMS = { a: 2, half: 0.5, text: "b", deep: { b: 3 }, ok: true };

function read(source: string): Script {
  return readScoreScript({ source, params: PARAMS });
}

/** What the script itself gives for a document, as a register holds it; "fails" where it fails. */
function itself(script: Script, doc: number): number | string {
  const values = new DocValues(shard);
  values.move(segment!, doc);
  try {
    const value = script.compiled.run([script.params, values, new Decimal(SCORES[doc]!)]);
    return value instanceof Decimal ? value.value : Number(value);
  } catch {
    return "fails";
  }
}

function readExpression(source: string): Script {
  return readScoreScript({ lang: "expression", source, params: { a: 2, half: 0.5 } });
}

test("documents that are asked for one by one get the number of the script, whatever lies between them", () => {
  for (const source of [
    "doc['n'].value + doc['m'].value",
    "_score * doc['m'].value",
    "doc['m'].value / params.a",
  ])
    for (const docs of [
      [0, 1, 2, 3, 4, 5],
      [0, 3, 4, 5],
      [2, 5],
      [0, 0, 1, 1, 2],
      [5, 0, 1, 2, 3],
    ]) {
      const script = read(source);
      const numberOf = numberOn(script, shard)(segment!);
      const ofOne = (doc: number): number | string => {
        try {
          return numberOf(doc, SCORES[doc]!);
        } catch {
          return "fails";
        }
      };
      assert.deepEqual(
        docs.map(ofOne),
        docs.map((doc) => itself(script, doc)),
        `${source} of ${docs.join()}`,
      );
    }
});

describe("an expression over columns gives what the expression itself gives", () => {
  for (const source of [
    "doc['n'].value / doc['m'].value * a",
    "doc['at'].value + doc['ok'].value - 1 % 3",
    "_score > half && !(doc['x'].value == 0) ? max(ln(abs(doc['n'].value) + 1), a) : pow(doc['m'].value, 2)",
    "(doc['n'].value > 0) + (doc['n'].min() < 3)",
  ]) {
    test(source, () => {
      const script = readExpression(source);
      const columns = ColumnScript.bind(script, shard, segment!);
      assert.ok(columns !== undefined);
      columns.run(Int32Array.from(DOCUMENTS.keys()), SCORES, DOCUMENTS.length);
      for (const doc of DOCUMENTS.keys())
        if (columns.unsure[doc] === 0)
          assert.ok(Object.is(columns.values[doc], itself(script, doc)), `${doc}`);
      assert.ok(columns.unsure.includes(0));
    });
  }
});

describe("a script over columns gives what the script itself gives", () => {
  for (const source of [
    "doc['n'].value + doc['m'].value * 2 > 3",
    "doc['n'].value * doc['n'].value",
    "doc['n'].value / doc['m'].value",
    "doc['n'].value % doc['m'].value == 1",
    "doc['n'].value / 2.0 - doc.x.value",
    "-doc['n'].value * 0 + 1.0 / (0 * -doc['m'].value)",
    "1.0 / (doc['x'].value * -1)",
    "doc['n'].size() == 0 ? -1 : doc['n'].value",
    "doc['x'].empty || doc['x'].value < params.half",
    "!(doc['ok'].value) && doc['ok'].size() == 1",
    "doc['ok'].value == (doc['n'].value > 0)",
    "doc['host'].value == 'ü' || doc['host'].value == params.text",
    "doc['host'].value != 'nowhere'",
    "doc['host'].isEmpty()",
    "doc['at'].value.millis / 1000 < params.deep.b",
    "doc['at'].value.getMillis() + 0.5",
    "_score * Math.log(2 + doc['m'].value) + Math.PI",
    "Math.max(doc['n'].value, doc['x'].value) - Math.min(doc['n'].value, 3)",
    "Math.max(doc['n'].value, 3) / 2",
    "doc['n'].value + 2147483647 * 2 - (1000 * 60 * 60 * 24 * 30)",
    "Math.pow(doc['x'].value, params.a) + Math.abs(doc['m'].value)",
    "doc['n'].value > 0 ? doc['x'].value / 2 : 0",
    "(doc['n'].value > 0 ? doc['x'].value : 0) * -1 + doc['m'].value",
    "1.0 / ((doc['n'].value > 0 ? doc['x'].value : 0) * -1)",
    "def y = doc['n'].value; if (y > 5) { return 1 } else if (y < 0) { return 2.5 } return y + 1",
    "double d = doc['n'].value; long l = (long) (d / 2); return l + 1",
    "(long) doc['x'].value",
    "boolean b = doc['n'].value >= 0; b ? 1 : 0",
    "if (doc.containsKey('n')) { doc['n'].value } else { 0 }",
    "0.0 / doc['x'].value == 0.0 / doc['x'].value",
    "params.ok ? doc['m'].value === 3 : false",
  ])
    test(source, () => {
      const script = read(source);
      const columns = ColumnScript.bind(script, shard, segment!);
      assert.ok(columns !== undefined, "it runs over columns");
      const docs = Int32Array.from({ length: segment!.docCount }, (_, at) => at);
      columns.run(docs, SCORES, docs.length);
      assert.ok(columns.unsure.subarray(0, docs.length).includes(0), "for some documents at least");
      for (const doc of docs) {
        if (columns.unsure[doc] === 1) continue;
        const wanted = itself(script, doc);
        assert.ok(Object.is(columns.values[doc], wanted), `${doc}: ${columns.values[doc]} for ${wanted}`);
      }
    });
});

test("scripts of another kind run themselves", () => {
  for (const source of [
    "for (int i = 0; i < 3; i++) { } return 1",
    "doc['text'].value == 'x'",
    "doc['nothing'].value == 1",
    "doc['host'].value.length()",
    "doc['host'].value == '\\ud800'",
    "int i = doc['n'].value; i",
    "def f(def x) { return x } f(1)",
    "params.missing > 1",
    "if (doc['ok'].value) { 5 } return 2",
    "doc['n'].value == doc['ok'].value",
    "doc['n'].value > 0 ? 1 : 'a'",
    "Math.random()",
    "1.5f * doc['n'].value",
  ]) {
    let script: Script;
    try {
      script = read(source);
    } catch {
      continue;
    }
    assert.equal(ColumnScript.bind(script, shard, segment!), undefined, source);
  }
});

test("what doesn't fit into a double, and division by zero, is left to the script", () => {
  const columns = ColumnScript.bind(read("10 / doc['m'].value + doc['n'].value"), shard, segment!)!;
  const docs = Int32Array.from([0, 2, 3]);
  columns.run(docs, null, 3);
  assert.deepEqual([...columns.unsure.subarray(0, 3)], [0, 0, 1]);
  const sum = ColumnScript.bind(read("doc['n'].value + 1"), shard, segment!)!;
  sum.run(docs, null, 3);
  assert.deepEqual([...sum.unsure.subarray(0, 3)], [0, 1, 0]);
});

test("a script of very many parts runs itself", () => {
  const source = Array.from({ length: COLUMN_BLOCK / 2 }, () => "doc['n'].value").join(" + ");
  assert.equal(ColumnScript.bind(read(source), shard, segment!), undefined);
});
