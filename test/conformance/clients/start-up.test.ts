/**
 * What programs ask a 6.5 engine when they start and while they run, request by request as they send it: shippers,
 * dashboards, tools of operators. Each row says what of the answer the program needs to go on.
 */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

type Json = Record<string, unknown>;

/** One request. `at` names places in the answer ("a.b.0.c") with what has to stand there; a RegExp has to fit its text. */
interface Ask {
  readonly ask: string;
  readonly body?: object | string;
  readonly status: number;
  readonly at?: Readonly<Record<string, unknown>>;
}

const NDJSON = (...lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const EVENT = { "@timestamp": "2026-01-02T03:04:05.678Z", message: "GET / 200", level: "info", took: 12 };
const TEMPLATE = {
  index_patterns: ["filebeat-6.5.0-*"],
  order: 1,
  settings: {
    index: { mapping: { total_fields: { limit: 10_000 } }, refresh_interval: "5s", number_of_shards: 3 },
  },
  mappings: {
    doc: {
      _meta: { version: "6.5.0" },
      date_detection: false,
      dynamic_templates: [
        {
          strings_as_keyword: {
            match_mapping_type: "string",
            mapping: { ignore_above: 1024, type: "keyword" },
          },
        },
      ],
      properties: {
        "@timestamp": { type: "date" },
        message: { type: "text", norms: false },
        took: { type: "long" },
      },
    },
  },
};
const LOGSTASH_TEMPLATE = {
  template: "logstash-*",
  version: 60_001,
  settings: { "index.refresh_interval": "5s" },
  mappings: {
    _default_: {
      dynamic_templates: [
        {
          message_field: {
            path_match: "message",
            match_mapping_type: "string",
            mapping: { type: "text", norms: false },
          },
        },
        {
          string_fields: {
            match: "*",
            match_mapping_type: "string",
            mapping: {
              type: "text",
              norms: false,
              fields: { keyword: { type: "keyword", ignore_above: 256 } },
            },
          },
        },
      ],
      properties: { "@timestamp": { type: "date" }, "@version": { type: "keyword" } },
    },
  },
};
const RANGE = {
  range: { "@timestamp": { gte: 1_767_300_000_000, lte: 1_767_400_000_000, format: "epoch_millis" } },
};

const PROGRAMS: Readonly<Record<string, readonly Ask[]>> = {
  "Filebeat 6": [
    { ask: "GET /", status: 200, at: { "version.number": "6.5.4" } },
    { ask: "GET /_xpack?filter_path=features.monitoring.enabled", status: 400 },
    { ask: "HEAD /_template/filebeat-6.5.0", status: 404 },
    { ask: "PUT /_template/filebeat-6.5.0", body: TEMPLATE, status: 200, at: { acknowledged: true } },
    { ask: "HEAD /_template/filebeat-6.5.0", status: 200 },
    { ask: "GET /_ingest/pipeline/filebeat-6.5.0-nginx-access-default", status: 404 },
    {
      ask: "PUT /_ingest/pipeline/filebeat-6.5.0-nginx-access-default",
      body: {
        description: "access",
        processors: [{ grok: { field: "message", patterns: ["%{WORD:verb} %{NOTSPACE:url}"] } }],
      },
      status: 200,
      at: { acknowledged: true },
    },
    {
      ask: "POST /_bulk",
      body: NDJSON(
        {
          index: {
            _index: "filebeat-6.5.0-2026.01.02",
            _type: "doc",
            pipeline: "filebeat-6.5.0-nginx-access-default",
          },
        },
        EVENT,
      ),
      status: 200,
      at: { errors: false, "items.0.index.status": 201, "items.0.index._type": "doc" },
    },
    { ask: "POST /filebeat-*/_refresh", status: 200 },
    {
      ask: "GET /filebeat-*/_search?q=verb:GET",
      status: 200,
      at: { "hits.total": 1, "hits.hits.0._source.url": "/" },
    },
  ],
  "Logstash 6": [
    { ask: "HEAD /", status: 200 },
    { ask: "HEAD /_template/logstash", status: 404 },
    { ask: "PUT /_template/logstash", body: LOGSTASH_TEMPLATE, status: 200, at: { acknowledged: true } },
    {
      ask: "POST /_bulk",
      body: NDJSON(
        { index: { _id: null, _index: "logstash-2026.01.02", _type: "doc", routing: null } },
        { ...EVENT, "@version": "1", host: "web-1" },
      ),
      status: 200,
      at: { errors: false, "items.0.index.status": 201 },
    },
    {
      ask: "GET /logstash-2026.01.02/_mapping/doc/field/host",
      status: 200,
      at: { "logstash-2026\\.01\\.02.mappings.doc.host.mapping.host.fields.keyword.ignore_above": 256 },
    },
  ],
  "Kibana 6.5": [
    { ask: "HEAD /", status: 200 },
    {
      ask: "GET /_nodes?filter_path=nodes.*.version,nodes.*.http.publish_address,nodes.*.ip",
      status: 200,
      at: { "nodes.*.version": "6.5.4", "nodes.*.http.publish_address": /:\d+$/ },
    },
    { ask: "GET /_nodes/_local?filter_path=nodes.*.settings.tribe", status: 200 },
    { ask: "GET /.kibana?include_type_name=true", status: 404, at: { status: 404 } },
    {
      ask: "PUT /.kibana_1?include_type_name=true",
      body: {
        mappings: {
          doc: {
            dynamic: "strict",
            properties: {
              type: { type: "keyword" },
              config: { dynamic: "true", properties: { buildNum: { type: "keyword" } } },
            },
          },
        },
        settings: { number_of_shards: 1, auto_expand_replicas: "0-1" },
      },
      status: 200,
      at: { acknowledged: true, shards_acknowledged: true, index: ".kibana_1" },
    },
    { ask: "GET /_alias/.kibana", status: 404 },
    {
      ask: "POST /_aliases",
      body: { actions: [{ add: { index: ".kibana_1", alias: ".kibana" } }] },
      status: 200,
    },
    {
      ask: "PUT /.kibana/doc/config:6.5.4?refresh=wait_for&op_type=create",
      body: { type: "config", config: { buildNum: 18_665 } },
      status: 201,
      at: { result: "created", _version: 1 },
    },
    { ask: "POST /.kibana/doc/_count", body: { query: { match_all: {} } }, status: 200, at: { count: 1 } },
    {
      ask: "POST /.kibana/_search?scroll=15m&size=100",
      body: { query: { match_all: {} } },
      status: 200,
      at: { _scroll_id: /.+/, "hits.total": 1 },
    },
    {
      ask: "GET /.kibana/doc/config%3A6.5.4",
      status: 200,
      at: { found: true, "_source.config.buildNum": 18_665 },
    },
    {
      ask: "GET /_cluster/settings?include_defaults=true&filter_path=**.script.*.disable_dynamic",
      status: 200,
    },
    {
      ask: "POST /logstash-*/_field_caps?fields=*&ignore_unavailable=true&allow_no_indices=false",
      status: 200,
      at: { "fields.took.long.aggregatable": true, "fields.host.text.searchable": true },
    },
    {
      ask: "POST /_msearch",
      body: NDJSON(
        { index: "logstash-*", ignore_unavailable: true, preference: 1_546_300_800_000 },
        {
          version: true,
          size: 500,
          sort: [{ "@timestamp": { order: "desc", unmapped_type: "boolean" } }],
          _source: { excludes: [] },
          aggs: {
            2: {
              date_histogram: {
                field: "@timestamp",
                interval: "30m",
                time_zone: "Europe/Berlin",
                min_doc_count: 1,
              },
            },
          },
          stored_fields: ["*"],
          script_fields: {},
          docvalue_fields: [{ field: "@timestamp", format: "date_time" }],
          query: { bool: { must: [{ match_all: {} }, RANGE], filter: [], should: [], must_not: [] } },
          highlight: {
            pre_tags: ["@kibana-highlighted-field@"],
            post_tags: ["@/kibana-highlighted-field@"],
            fields: { "*": {} },
            fragment_size: 2_147_483_647,
          },
        },
      ),
      status: 200,
      at: {
        "responses.0.status": 200,
        "responses.0.hits.total": 1,
        "responses.0.hits.hits.0.fields.@timestamp.0": "2026-01-02T03:04:05.678Z",
        "responses.0.hits.hits.0.sort.0": 1_767_323_045_678,
        "responses.0.aggregations.2.buckets.0.doc_count": 1,
      },
    },
    {
      ask: "POST /_reindex?wait_for_completion=false&refresh=true",
      body: { source: { index: ".kibana_1", size: 100 }, dest: { index: ".kibana_2" } },
      status: 200,
      at: { task: /:\d+$/ },
    },
    {
      ask: "GET /_mget",
      body: { docs: [{ _index: ".kibana", _type: "doc", _id: "config:6.5.4" }] },
      status: 200,
      at: { "docs.0.found": true },
    },
  ],
  "Grafana's data source": [
    { ask: "GET /", status: 200, at: { "version.number": /^\d+\./ } },
    { ask: "GET /_cluster/health?wait_for_status=yellow", status: 200, at: { status: /green|yellow/ } },
    {
      ask: "GET /logstash-*/_mapping",
      status: 200,
      at: { "logstash-2026\\.01\\.02.mappings.doc.properties.@timestamp.type": "date" },
    },
    {
      ask: "GET /logstash-*/_field_caps?fields=@timestamp",
      status: 200,
      at: { "fields.@timestamp.date.type": "date" },
    },
    {
      ask: "POST /_msearch?max_concurrent_shard_requests=256",
      body: NDJSON(
        {
          search_type: "query_then_fetch",
          ignore_unavailable: true,
          index: "logstash-*",
          max_concurrent_shard_requests: 256,
        },
        {
          size: 0,
          query: { bool: { filter: [RANGE, { query_string: { analyze_wildcard: true, query: "*" } }] } },
          aggs: {
            3: {
              terms: { field: "level.keyword", size: 10, order: { 1: "desc" }, min_doc_count: 1 },
              aggs: {
                1: { avg: { field: "took" } },
                2: {
                  date_histogram: {
                    interval: "30s",
                    field: "@timestamp",
                    min_doc_count: 0,
                    extended_bounds: { min: 1_767_323_000_000, max: 1_767_323_100_000 },
                    format: "epoch_millis",
                  },
                  aggs: {
                    1: { avg: { field: "took" } },
                    4: { percentiles: { field: "took", percents: [95] } },
                  },
                },
              },
            },
          },
        },
        { search_type: "query_then_fetch", ignore_unavailable: true, index: "missing-*" },
        {
          size: 500,
          query: { bool: { filter: [RANGE] } },
          sort: { "@timestamp": { order: "desc", unmapped_type: "boolean" } },
          script_fields: {},
          docvalue_fields: ["@timestamp"],
        },
      ),
      status: 200,
      at: {
        "responses.0.aggregations.3.buckets.0.key": "info",
        "responses.0.aggregations.3.buckets.0.1.value": 12,
        "responses.0.aggregations.3.buckets.0.2.buckets.0.key_as_string": /^\d{13}$/,
        "responses.1.hits.total": 0,
      },
    },
  ],
  Curator: [
    {
      ask: "GET /_cluster/state/metadata/logstash-*",
      status: 200,
      at: { "metadata.indices.logstash-2026\\.01\\.02.state": "open" },
    },
    {
      ask: "GET /logstash-2026.01.02/_stats/store,docs",
      status: 200,
      at: { "indices.logstash-2026\\.01\\.02.total.docs.count": 1 },
    },
    { ask: "GET /_all/_settings/index.creation_date?expand_wildcards=open,closed", status: 200 },
    { ask: "GET /_tasks", status: 200 },
    { ask: "POST /logstash-2026.01.02/_forcemerge?max_num_segments=1", status: 200 },
    {
      ask: "PUT /logstash-2026.01.02/_settings",
      body: { index: { number_of_replicas: 0 } },
      status: 200,
      at: { acknowledged: true },
    },
    { ask: "POST /logstash-2026.01.02/_flush/synced", status: 200 },
    {
      ask: "POST /logstash-2026.01.02/_close?ignore_unavailable=true",
      status: 200,
      at: { acknowledged: true },
    },
    { ask: "POST /logstash-2026.01.02/_open", status: 200, at: { acknowledged: true } },
    { ask: "DELETE /nothing-2020.*?master_timeout=30s", status: 200, at: { acknowledged: true } },
  ],
  elasticdump: [
    { ask: "GET /logstash-2026.01.02/_mapping", status: 200 },
    {
      ask: "GET /logstash-2026.01.02/_settings",
      status: 200,
      at: { "logstash-2026\\.01\\.02.settings.index.uuid": /^.{22}$/ },
    },
    { ask: "GET /logstash-2026.01.02/_alias", status: 200 },
    {
      ask: "POST /logstash-2026.01.02/_search?scroll=10m&from=0&size=100",
      body: { query: { match_all: {} }, stored_fields: ["*"], _source: true },
      status: 200,
      at: { _scroll_id: /.+/, "hits.hits.0._source.host": "web-1" },
    },
    {
      ask: "PUT /copied/_mapping/doc",
      body: { doc: { properties: { took: { type: "long" } } } },
      status: 404,
    },
    { ask: "PUT /copied", status: 200 },
    {
      ask: "PUT /copied/_mapping/doc",
      body: { doc: { properties: { took: { type: "long" } } } },
      status: 200,
    },
    {
      ask: "POST /copied/_bulk",
      body: NDJSON({ index: { _index: "copied", _type: "doc", _id: "1" } }, EVENT),
      status: 200,
      at: { errors: false },
    },
  ],
};

suite("what programs ask when they start and while they run", () => {
  const workspace = new Workspace();
  let hub: TestHub;
  before(async () => {
    hub = await startHub({ dataDir: workspace.path("data", "hub") });
  });
  after(async () => {
    await hub?.stop();
    await workspace.close();
  });

  for (const [program, asks] of Object.entries(PROGRAMS)) {
    // One program's data is the next one's.
    test(`${program} gets what it needs`, async () => {
      for (const { ask, body, status, at = {} } of asks) {
        const answer = await send(hub.searchUrl, ask, body);
        assert.equal(answer.status, status, `${ask}: ${answer.text.slice(0, 600)}`);
        for (const [path, wanted] of Object.entries(at)) {
          const found = valueAt(answer.json, path);
          const where = `${ask}: ${path} in ${answer.text.slice(0, 600)}`;
          if (wanted instanceof RegExp) assert.match(String(found), wanted, where);
          else assert.deepEqual(found, wanted, where);
        }
      }
      if (program === "Logstash 6") await send(hub.searchUrl, "POST /_refresh", undefined);
    });
  }
});

async function send(
  url: string,
  ask: string,
  body: object | string | undefined,
): Promise<{ status: number; text: string; json: unknown }> {
  const [given = "", path = ""] = ask.split(" ");
  // fetch sends no body with GET; these programs' servers take POST for the same.
  const method = given === "GET" && body !== undefined ? "POST" : given;
  const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": type },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, text, json };
}

/** Value at dotted keys; `*` is the first key, `\.` a dot within one. */
function valueAt(json: unknown, path: string): unknown {
  const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
  return keys.reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null) return undefined;
    return (value as Json)[key === "*" ? Object.keys(value)[0]! : key];
  }, json);
}
