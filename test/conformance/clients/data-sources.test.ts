/**
 * What Jaeger's storage and Grafana's data source send to a server of 7.17 and later, written after their public sources, with
 * the numbers that they show.
 */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

type Json = Record<string, unknown>;

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/x-ndjson";
const START_MS = 1_577_934_245_000;
const MINUTE_MS = 60_000;

suite("data sources of other products", () => {
  const workspace = new Workspace();
  let hub: TestHub;
  before(async () => {
    hub = await startHub({
      dataDir: workspace.path("data", "hub"),
      settings: { "compat.version": "7.17.22" },
    });
  });
  after(async () => {
    await hub?.stop();
    await workspace.close();
  });

  async function send(method: string, path: string, body: object | readonly object[]): Promise<Json> {
    const isLines = Array.isArray(body);
    const text = isLines ? body.map((line) => `${JSON.stringify(line)}\n`).join("") : JSON.stringify(body);
    const headers = { "content-type": isLines ? LINES_TYPE : JSON_TYPE };
    const response = await fetch(hub.searchUrl + path, { method, headers, body: text });
    const answer = await response.text();
    assert.equal(response.status, 200, answer);
    return JSON.parse(answer) as Json;
  }

  test("Jaeger finds, summarises and reads traces", async () => {
    await send("PUT", "/_template/jaeger-span", spanTemplate());
    const items = spans().flatMap((span) => [
      { index: { _index: "jaeger-span-write-000001", _id: span.spanID } },
      span,
    ]);
    assert.equal((await send("POST", "/_bulk?refresh=true", items))["errors"], false);

    const search = "/jaeger-span-read/_search?ignore_unavailable=true&rest_total_hits_as_int=true";
    const ids = await send("POST", search, {
      size: 0,
      query: {
        bool: {
          must: [
            { range: { duration: { gte: 1_000_000, lte: 60_000_000 } } },
            { range: { startTimeMillis: { gte: START_MS, lte: START_MS + MINUTE_MS } } },
            { match: { "process.serviceName": { query: "shop" } } },
            tagQuery("http.status_code", "200"),
          ],
        },
      },
      aggregations: {
        traceIDs: {
          terms: { field: "traceID", size: 20, order: [{ startTime: "desc" }] },
          aggregations: { startTime: { max: { field: "startTime" } } },
        },
      },
    });
    assert.deepEqual(bucketsOf(ids, "traceIDs"), [
      { key: "trace-1", doc_count: 1, startTime: { value: (START_MS + 1) * 1000 } },
    ]);

    const summary = await send("POST", search, {
      size: 0,
      query: { bool: { must: [{ terms: { traceID: ["trace-1"] } }] } },
      aggregations: {
        traces: {
          terms: { field: "traceID", size: 1, order: [{ last: "desc" }] },
          aggregations: {
            errors: { filter: tagQuery("error", "true") },
            last: { max: { field: "startTime" } },
            end: { max: { script: { source: "doc['startTime'].value + doc['duration'].value" } } },
            root: { filter: { bool: { must_not: { exists: { field: "parentSpanID" } } } } },
            services: { terms: { field: "process.serviceName", size: 1000 } },
          },
        },
      },
    });
    const [trace] = bucketsOf(summary, "traces");
    assert.deepEqual(
      [trace!["doc_count"], trace!["errors"], trace!["end"], trace!["root"]],
      [3, { doc_count: 1 }, { value: (START_MS + 2) * 1000 + 2_000_000 }, { doc_count: 1 }],
    );

    const read = await send("POST", "/_msearch", [
      { ignore_unavailable: true, index: "jaeger-span-read" },
      {
        size: 100,
        query: { bool: { must: [{ term: { traceID: "trace-1" } }] } },
        sort: [{ startTime: { order: "asc" } }, { spanID: { order: "asc" } }],
        track_total_hits: true,
        search_after: [START_MS * 1000, "span-0"],
      },
    ]);
    const [{ hits, status }] = read["responses"] as [{ hits: { hits: { _id: string }[] }; status: number }];
    assert.equal(status, 200);
    assert.deepEqual(
      hits.hits.map(({ _id }) => _id),
      ["span-1", "span-2"],
    );
  });

  test("Grafana draws a metric by level and shows the lines behind it", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => ({
      "@timestamp": START_MS + n * 10_000,
      level: n % 6 === 0 ? "error" : "info",
      took: n,
      message: `request ${n} was answered`,
    }));
    const items = lines.flatMap((line, n) => [{ index: { _index: "shop-1", _id: String(n) } }, line]);
    assert.equal((await send("POST", "/_bulk?refresh=true", items))["errors"], false);

    const end = START_MS + 10 * MINUTE_MS;
    const range = { range: { "@timestamp": { gte: START_MS, lte: end, format: "epoch_millis" } } };
    const header = { ignore_unavailable: true, index: "shop-*" };
    const text = { query_string: { analyze_wildcard: true, query: "message:answered" } };
    const query = { bool: { filter: [range, text] } };
    const answers = await send("POST", "/_msearch?max_concurrent_shard_requests=5", [
      header,
      {
        size: 0,
        query,
        aggs: {
          2: {
            terms: { field: "level.keyword", size: 10, order: { 1: "desc" }, min_doc_count: 1 },
            aggs: {
              1: { max: { field: "took" } },
              3: {
                date_histogram: {
                  field: "@timestamp",
                  fixed_interval: "5m",
                  min_doc_count: 0,
                  extended_bounds: { min: START_MS, max: end },
                  format: "epoch_millis",
                },
                aggs: { 4: { percentiles: { field: "took", percents: ["50"] } } },
              },
            },
          },
        },
      },
      header,
      {
        size: 2,
        query,
        sort: [{ "@timestamp": { order: "desc", unmapped_type: "boolean" } }, { _doc: { order: "desc" } }],
        script_fields: {},
        highlight: {
          fields: { "*": {} },
          fragment_size: 2_147_483_647,
          pre_tags: ["@HIGHLIGHT@"],
          post_tags: ["@/HIGHLIGHT@"],
        },
      },
    ]);
    const [metric, logs] = answers["responses"] as [Json, { hits: { hits: Json[] } }];
    assert.deepEqual(
      bucketsOf(metric, "2").map(({ key, doc_count: count, 1: most }) => [key, count, most]),
      [
        ["info", 50, { value: 59 }],
        ["error", 10, { value: 54 }],
      ],
    );
    const histogram = (bucketsOf(metric, "2")[1]!["3"] as { buckets: Json[] }).buckets;
    assert.equal(
      histogram.reduce((sum, { doc_count: count }) => sum + Number(count), 0),
      10,
    );
    assert.deepEqual(
      logs.hits.hits.map(({ _id: id, sort }) => [id, (sort as number[])[0]]),
      [
        ["59", START_MS + 590_000],
        ["58", START_MS + 580_000],
      ],
    );
    assert.match(JSON.stringify(logs.hits.hits[0]!["highlight"]), /@HIGHLIGHT@answered@\/HIGHLIGHT@/);
  });
});

function bucketsOf(answer: Json, name: string): Json[] {
  return (answer["aggregations"] as Record<string, { buckets: Json[] }>)[name]!.buckets;
}

/** A tag is a field of its own, or a nested object of the span, its process or its logs. */
function tagQuery(key: string, value: string): object {
  const own = ["tag", "process.tag"].map((path) => ({
    bool: { must: { regexp: { [`${path}.${key.replaceAll(".", "_")}`]: { value } } } },
  }));
  const nested = ["tags", "process.tags", "logs.fields"].map((path) => ({
    nested: {
      path,
      query: {
        bool: {
          must: [
            { match: { [`${path}.key`]: { query: key } } },
            { regexp: { [`${path}.value`]: { value } } },
          ],
        },
      },
    },
  }));
  return { bool: { should: [...own, ...nested] } };
}

function spanTemplate(): object {
  const keyword = { type: "keyword", ignore_above: 256 };
  const tags = {
    type: "nested",
    dynamic: false,
    properties: { key: keyword, value: keyword, type: keyword },
  };
  const names = ["traceID", "spanID", "parentSpanID", "operationName"];
  return {
    index_patterns: "*jaeger-span-*",
    aliases: { "jaeger-span-read": {} },
    settings: { "index.mapping.nested_fields.limit": 50, "index.requests.cache.enable": true },
    mappings: {
      dynamic_templates: [{ span_tags_map: { path_match: "tag.*", mapping: keyword } }],
      properties: {
        ...Object.fromEntries(names.map((name) => [name, keyword])),
        startTime: { type: "long" },
        startTimeMillis: { type: "date", format: "epoch_millis" },
        duration: { type: "long" },
        tags,
        process: { properties: { serviceName: keyword, tag: { type: "object" }, tags } },
        logs: { type: "nested", dynamic: false, properties: { timestamp: { type: "long" }, fields: tags } },
      },
    },
  };
}

/** Three spans of a trace; the second has a nested tag, the third one as a field. */
function spans(): ({ readonly spanID: string } & Json)[] {
  return [0, 1, 2].map((n) => ({
    traceID: "trace-1",
    spanID: `span-${n}`,
    ...(n > 0 && { parentSpanID: "span-0" }),
    operationName: "order",
    startTime: (START_MS + n) * 1000,
    startTimeMillis: START_MS + n,
    duration: 2_000_000,
    process: { serviceName: "shop", tags: null },
    logs: null,
    tags: n === 1 ? [{ key: "http.status_code", type: "int64", value: "200" }] : null,
    ...(n === 2 && { tag: { error: "true" } }),
  }));
}
