import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { convertKibana, type KibanaImport } from "./import-kibana.ts";
import { readExport } from "./kibana/exported-objects.ts";

const meta = (source: JsonObject): JsonObject => ({
  kibanaSavedObjectMeta: { searchSourceJSON: JSON.stringify(source) },
});
const agg = (type: string, schema: string, params: JsonObject = {}): JsonObject => ({
  enabled: true,
  type,
  schema,
  params,
});
const vis = (type: string, aggs: JsonObject[], params: JsonObject = {}): JsonObject => ({
  visState: JSON.stringify({ type, aggs, params }),
});

/** As 7.x exports them, a line each. */
const OBJECTS: JsonObject[] = [
  { id: "p1", type: "index-pattern", attributes: { title: "shop-*", timeFieldName: "@timestamp" } },
  {
    id: "s1",
    type: "search",
    attributes: {
      title: "Errors",
      columns: ["message", "host.name"],
      sort: [["status", "asc"]],
      ...meta({
        query: { language: "kuery", query: 'level : error and not host.name:"web 1" or bytes >= 5' },
        filter: [
          {
            meta: { key: "status", negate: true, type: "phrase", params: { query: 404 } },
            query: { match_phrase: { status: 404 } },
          },
          { meta: { key: "x", disabled: true } },
          { meta: { key: "bytes", type: "range" }, range: { bytes: { gte: 1, lt: 10 } } },
          { meta: { alias: "odd" }, query: { bool: {} } },
        ],
        indexRefName: "ref",
      }),
    },
    references: [{ name: "ref", type: "index-pattern", id: "p1" }],
  },
  {
    id: "v1",
    type: "visualization",
    attributes: {
      title: "By host",
      savedSearchRefName: "search_0",
      ...meta({ query: { language: "lucene", query: "" } }),
      ...vis("histogram", [
        agg("avg", "metric", { field: "bytes" }),
        agg("terms", "group", { field: "host.name", size: 50 }),
        agg("date_histogram", "segment", { field: "@timestamp", interval: "auto" }),
        agg("max", "metric", { field: "bytes" }),
      ]),
    },
    references: [{ name: "search_0", type: "search", id: "s1" }],
  },
  {
    id: "v2",
    type: "visualization",
    attributes: { title: "Note", ...vis("markdown", [], { markdown: "# Hello" }) },
  },
  { id: "v3", type: "visualization", attributes: { title: "Old", ...vis("timelion", []) } },
  {
    id: "v4",
    type: "visualization",
    attributes: {
      title: "Places",
      ...vis("pie", [agg("count", "metric"), agg("terms", "segment", { field: "geo.keyword", size: 7 })]),
      ...meta({ index: "p1", query: { query: "a:b", language: "lucene" } }),
    },
  },
  {
    id: "d 1",
    type: "dashboard",
    attributes: {
      title: "Shop",
      timeRestore: true,
      timeFrom: "now-7d",
      timeTo: "now",
      refreshInterval: { pause: false, value: 30_000 },
      panelsJSON: JSON.stringify([
        { gridData: { x: 24, y: 0, w: 24, h: 15 }, panelRefName: "panel_1" },
        { gridData: { x: 0, y: 0, w: 13, h: 5 }, panelRefName: "panel_0" },
        { gridData: { x: 0, y: 20, w: 48, h: 30 }, panelRefName: "panel_2" },
        { gridData: { x: 0, y: 60, w: 48, h: 30 }, panelRefName: "panel_3" },
      ]),
      ...meta({ query: { language: "kuery", query: "env:prod" } }),
    },
    references: [
      { name: "panel_0", type: "visualization", id: "v2" },
      { name: "panel_1", type: "visualization", id: "v1" },
      { name: "panel_2", type: "search", id: "s1" },
      { name: "panel_3", type: "visualization", id: "v3" },
    ],
  },
  { id: "l1", type: "lens", attributes: { title: "Lens" } },
  { exportedCount: 7, missingRefCount: 0 },
];

const imported = (): KibanaImport =>
  convertKibana(readExport(OBJECTS.map((each) => JSON.stringify(each)).join("\n")));

function parametersOf(id: string): Record<string, string> {
  const found = imported().objects.find((each) => each.id === id);
  return Object.fromEntries(new URLSearchParams(String(found?.attributes["parameters"])));
}

test("a search keeps its index, query, filters, columns and order", () => {
  assert.deepEqual(parametersOf("s1"), {
    q: '(level:error AND NOT host.name:"web 1" OR bytes:>=5) AND NOT status:404 AND bytes:[1 TO 10}',
    index: "shop-*",
    cols: "message,host.name",
    sort: "status",
  });
  assert.deepEqual(imported().objects.find(({ id }) => id === "s1")!.leftOut, ["the filter odd"]);
});

test("a visualisation keeps its measure, time and values, and the search that it belongs to", () => {
  const { q, index, ...chart } = parametersOf("v1");
  assert.deepEqual([q?.startsWith("(level:error"), index], [true, "shop-*"]);
  assert.deepEqual(chart, { metric: "avg:bytes", split: "20:host.name" });
  assert.deepEqual(parametersOf("v4"), {
    q: "a:b",
    index: "shop-*",
    chart: "pie",
    by: "terms:7:geo.keyword",
  });
  assert.deepEqual(imported().objects.find(({ id }) => id === "v1")!.leftOut, [
    "the filter odd",
    "the measure max",
  ]);
});

test("a dashboard keeps its panels in their order, its texts, range and query", () => {
  const { attributes, leftOut } = imported().objects.find(({ type }) => type === "dashboard")!;
  assert.deepEqual(attributes, {
    panels: [
      { id: "text-0", kind: "text", text: "# Hello", width: 3, height: "low" },
      { id: "v1", width: 6, height: "middle" },
      { id: "s1", kind: "search", width: 12, height: "high" },
    ],
    variables: [],
    range: { from: "now-7d", to: "now" },
    refreshSeconds: 30,
    query: "env:prod",
  });
  assert.deepEqual(leftOut, ["the panel v3 (visualization)"]);
});

test("what can't be carried over is listed with its reason", () => {
  assert.deepEqual(imported().skipped, [
    "visualisation Old: Timelion: make a chart with a formula",
    "lens Lens: there is nothing like it in the hub",
  ]);
});

test("exports of 6.x, of the dashboards' interface and documents of .kibana are read too", () => {
  const attributes = { title: "A" };
  const forms: unknown[] = [
    [{ _id: "x", _type: "search", _source: attributes }],
    { version: "6.5.4", objects: [{ id: "x", type: "search", attributes }] },
    { _index: ".kibana", _id: "search:x", _source: { type: "search", search: attributes } },
  ];
  for (const form of forms)
    assert.deepEqual(readExport(JSON.stringify(form)), [
      { type: "search", id: "x", attributes, references: [] },
    ]);
  assert.throws(() => readExport('{"a":1}'), /no saved objects: give a file of Management/);
  assert.throws(() => readExport('{"id":"a"}\n{'), /line 2 is not JSON: give a file of Management/);
});

test("an export that nests deep is refused by its line", () => {
  const deep = `{"type":"search","id":"a","attributes":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
  assert.throws(() => readExport(deep), { code: "request_invalid", message: /line 1/ });
});
