import assert from "node:assert/strict";
import { test } from "node:test";
import { answerTable } from "./answer-table.ts";

const table = (value: unknown) => answerTable(JSON.stringify(value));

test("documents, lists and groups are rows; their columns are what any of them has", () => {
  const hits = [
    { _index: "a", _id: "1", _score: 1.5, _source: { host: { name: "web" }, tags: ["x", "y"] } },
    { _index: "a", _id: "2", _score: null, _source: { took: 3 } },
  ];
  assert.deepEqual(table({ hits: { hits } }), {
    columns: ["_index", "_id", "_score", "host.name", "tags", "took"],
    rows: [
      ["a", "1", "1.5", "web", "x, y", ""],
      ["a", "2", "", "", "", "3"],
    ],
    numeric: new Set([1, 2, 5]),
    more: { rows: 0, columns: 0 },
  });
  assert.deepEqual(table([{ index: "a", "docs.count": "5" }])?.columns, ["index", "docs.count"]);
  const metric = { value: 2 };
  const inner = { buckets: [{ key: 200, doc_count: 3, took: metric }] };
  const aggregations = {
    total: { value: 1 },
    pages: { buckets: [{ key: "/", doc_count: 9, codes: inner }] },
  };
  assert.deepEqual(table({ hits: { hits: [] }, aggregations }), {
    columns: ["pages", "codes", "doc_count", "took"],
    rows: [["/", "200", "3", "2"]],
    numeric: new Set([1, 2, 3]),
    more: { rows: 0, columns: 0 },
  });
  const named = { prices: { buckets: { low: { doc_count: 1 }, high: { doc_count: 2 } } } };
  assert.deepEqual(table({ aggregations: named })?.rows, [
    ["low", "1"],
    ["high", "2"],
  ]);
});

test("a column is numeric where all its values are numbers, or texts of digits", () => {
  const rows = [
    { docs: "5", size: "3kb", ip: "127.0.0.1", share: "-1.5e3", empty: "" },
    { docs: 7, size: "12", ip: "1", share: 0.5, empty: "" },
  ];
  assert.deepEqual([...table(rows)!.numeric], [0, 3]);
});

test("what holds no rows isn't a table, and a long one is cut", () => {
  for (const value of [1, "x", null, [], {}, { acknowledged: true }, { hits: { hits: [] } }])
    assert.equal(table(value), undefined);
  assert.equal(answerTable("green open"), undefined);
  const wide = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`c${at}`, at]));
  const long = table(Array.from({ length: 1_200 }, () => wide))!;
  assert.deepEqual(
    [long.rows.length, long.columns.length, long.more],
    [1_000, 60, { rows: 200, columns: 10 }],
  );
});
