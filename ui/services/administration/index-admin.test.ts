import assert from "node:assert/strict";
import { test } from "node:test";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { fieldTree, filterTree, IndexAdmin, type IndexRow, selectRows } from "./index-admin.ts";

const row = (name: string, more: Partial<IndexRow> = {}): IndexRow => ({
  name,
  health: "green",
  isOpen: true,
  docs: 0,
  deleted: 0,
  sizeBytes: 0,
  shards: 1,
  replicas: 0,
  segments: 1,
  createdMs: 0,
  ...more,
});
const ROWS = [row("b", { docs: 5 }), row("logs-1", { health: "red" }), row(".own"), row("a", { docs: 5 })];

test("rows are chosen by name or pattern and sorted, equal ones by name", () => {
  const names = (search: string, more: object = {}): string[] =>
    selectRows(ROWS, { search, sort: "name", isDescending: false, hasHidden: false, ...more }).map(
      ({ name }) => name,
    );
  assert.deepEqual(names(""), ["a", "b", "logs-1"]);
  assert.deepEqual(names("OGS"), ["logs-1"]);
  assert.deepEqual(names("l*s"), []);
  assert.deepEqual(names("lo*1"), ["logs-1"]);
  assert.deepEqual(names("(", { hasHidden: true }), []);
  assert.deepEqual(names("", { sort: "docs", isDescending: true, hasHidden: true }), [
    "a",
    "b",
    ".own",
    "logs-1",
  ]);
  assert.deepEqual(names("", { sort: "health" }), ["logs-1", "a", "b"]);
});

const MAPPING = {
  properties: {
    title: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
    host: { properties: { name: { type: "keyword" } } },
  },
};

test("a mapping becomes a tree of fields that can be searched", () => {
  const tree = fieldTree(MAPPING);
  assert.deepEqual(
    tree.map(({ path, type }) => [path, type]),
    [
      ["host", "object"],
      ["title", "text"],
    ],
  );
  const [keyword] = tree[1]!.children;
  assert.deepEqual(
    [keyword!.path, keyword!.isSubField, keyword!.details],
    ["title.keyword", true, ["ignore_above: 256"]],
  );
  assert.deepEqual(
    filterTree(tree, "NAME").map(({ path, children }) => [path, children.map((child) => child.path)]),
    [["host", ["host.name"]]],
  );
  assert.deepEqual(fieldTree(undefined), []);
});

test("a typed mapping and one without a type give the same fields", async () => {
  for (const mappings of [MAPPING, { _doc: MAPPING }]) {
    const body = JSON.stringify({ shop: { mappings } });
    const admin = new IndexAdmin(new SearchClient(() => Promise.resolve(new Response(body))));
    assert.equal((await admin.mapping("shop")).length, 2);
  }
});
