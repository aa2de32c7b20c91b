/** Kibana and Grafana: what a dashboard asks of an engine. */

import { NDJSON, type Programs } from "./start-up-requests.ts";

const RANGE = {
  range: { "@timestamp": { gte: 1_767_300_000_000, lte: 1_767_400_000_000, format: "epoch_millis" } },
};

export const DASHBOARDS: Programs = {
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
      ask: "GET /_resolve/index/logstash-*",
      status: 200,
      at: { "indices.0.name": "logstash-2026.01.02" },
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
};
