/** Shippers of 8.x: composable templates, data streams, documents that are only added. */

import { type Ask, EVENT, NDJSON, type Programs } from "./start-up-requests.ts";

const TEMPLATE = {
  index_patterns: ["filebeat-8.11.0"],
  priority: 150,
  data_stream: {},
  template: {
    settings: {
      index: {
        lifecycle: { name: "filebeat" },
        mapping: { total_fields: { limit: 10_000 } },
        refresh_interval: "5s",
        query: { default_field: ["message", "tags"] },
        max_docvalue_fields_search: 200,
      },
    },
    mappings: {
      _meta: { beat: "filebeat", version: "8.11.0" },
      date_detection: false,
      dynamic_templates: [
        { labels: { path_match: "labels.*", match_mapping_type: "string", mapping: { type: "keyword" } } },
        {
          strings_as_keyword: {
            match_mapping_type: "string",
            mapping: { ignore_above: 1024, type: "keyword" },
          },
        },
      ],
      properties: {
        "@timestamp": { type: "date" },
        message: { type: "match_only_text" },
        took: { type: "long" },
        url: { properties: { full: { type: "wildcard", ignore_above: 1024 } } },
      },
    },
  },
};

/** A pair of documents to a stream, and what a search by its name finds. */
function writesTo(stream: string): Ask[] {
  return [
    {
      ask: "POST /_bulk",
      body: NDJSON({ create: { _index: stream } }, EVENT, { create: { _index: stream } }, EVENT),
      status: 200,
      at: {
        errors: false,
        "items.1.create.status": 201,
        "items.1.create._index": new RegExp(`^\\.ds-${stream}-\\d{4}\\.\\d\\d\\.\\d\\d-000001$`),
      },
    },
    { ask: `POST /${stream}/_refresh`, status: 200 },
    { ask: `GET /${stream}/_count`, status: 200, at: { count: 2 } },
    { ask: `GET /${stream.slice(0, -1)}*/_search?q=level:info`, status: 200, at: { "hits.total": 2 } },
  ];
}

export const STREAMS: Programs = {
  "Filebeat 8": [
    { ask: "GET /_license?human=false", status: 200, at: { "license.status": "active" } },
    { ask: "HEAD /_index_template/filebeat-8.11.0", status: 404 },
    { ask: "PUT /_index_template/filebeat-8.11.0", body: TEMPLATE, status: 200, at: { acknowledged: true } },
    { ask: "HEAD /_index_template/filebeat-8.11.0", status: 200 },
    { ask: "GET /_data_stream/filebeat-8.11.0", status: 404 },
    { ask: "PUT /_data_stream/filebeat-8.11.0", status: 200, at: { acknowledged: true } },
    {
      ask: "GET /_data_stream/filebeat-8.11.0",
      status: 200,
      at: {
        "data_streams.0.name": "filebeat-8.11.0",
        "data_streams.0.timestamp_field.name": "@timestamp",
        "data_streams.0.template": "filebeat-8.11.0",
      },
    },
    ...writesTo("filebeat-8.11.0"),
    {
      ask: "POST /_bulk",
      body: NDJSON({ index: { _index: "filebeat-8.11.0" } }, EVENT),
      status: 200,
      at: { errors: true, "items.0.index.error.reason": /op_type of create/ },
    },
    { ask: "POST /filebeat-8.11.0/_rollover", status: 200, at: { new_index: /-000002$/, rolled_over: true } },
  ],
  "Logstash 8 with data streams": [
    { ask: "HEAD /_index_template/ecs-logstash", status: 404 },
    {
      ask: "PUT /_index_template/ecs-logstash",
      body: {
        index_patterns: ["logstash8-*-*"],
        priority: 200,
        data_stream: {},
        composed_of: [],
        template: { mappings: { properties: { level: { type: "keyword" } } } },
      },
      status: 200,
      at: { acknowledged: true },
    },
    ...writesTo("logstash8-generic-default"),
  ],
  "a set-up of components": [
    {
      ask: "PUT /_component_template/vector-mappings",
      body: {
        template: { mappings: { properties: { level: { type: "keyword" } } } },
        _meta: { of: "vector" },
      },
      status: 200,
      at: { acknowledged: true },
    },
    {
      ask: "PUT /_component_template/vector-settings",
      body: { template: { settings: { number_of_shards: 1, number_of_replicas: 0 } } },
      status: 200,
      at: { acknowledged: true },
    },
    {
      ask: "PUT /_index_template/vector",
      body: {
        index_patterns: ["vector-*-*"],
        priority: 300,
        data_stream: {},
        composed_of: ["vector-mappings", "vector-settings"],
      },
      status: 200,
      at: { acknowledged: true },
    },
    {
      ask: "POST /_index_template/_simulate_index/vector-generic-default",
      status: 200,
      at: { "template.mappings.properties.level.type": "keyword", overlapping: [] },
    },
    ...writesTo("vector-generic-default"),
    { ask: "DELETE /_data_stream/vector-*", status: 200, at: { acknowledged: true } },
    { ask: "GET /vector-generic-default/_count", status: 404 },
  ],
};
