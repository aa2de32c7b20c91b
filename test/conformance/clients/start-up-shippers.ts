/** Beats and Logstash: templates, then bulk requests. */

import { EVENT, NDJSON, type Programs } from "./start-up-requests.ts";

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

export const SHIPPERS: Programs = {
  "Filebeat 6": [
    { ask: "GET /", status: 200, at: { "version.number": "6.5.4" } },
    {
      ask: "GET /_xpack?filter_path=features.monitoring.enabled",
      status: 200,
      at: { "features.monitoring.enabled": false },
    },
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
  "shippers of 7.x": [
    // The usual build of these shippers sends nothing where the licence isn't at least basic.
    {
      ask: "GET /_license?human=false",
      status: 200,
      at: { "license.status": "active", "license.type": "basic" },
    },
    // Lifecycle policies are a feature from 6.6 on, so they continue without.
    {
      ask: "GET /_xpack",
      status: 200,
      at: { "features.ilm.available": false, "license.mode": "basic", "license.status": "active" },
    },
    {
      ask: "PUT /_template/filebeat-7.17.0",
      body: {
        index_patterns: ["filebeat-7.17.0-*"],
        mappings: {
          properties: {
            data_stream: { properties: { type: { type: "constant_keyword" } } },
            parameters: { type: "flattened" },
            url: { properties: { full: { type: "wildcard", ignore_above: 1024 } } },
          },
        },
      },
      status: 200,
      at: { acknowledged: true },
    },
    { ask: "HEAD /_alias/filebeat-7.17.0", status: 404 },
    {
      ask: "PUT /%3Cfilebeat-7.17.0-%7Bnow%2Fd%7D-000001%3E",
      body: { aliases: { "filebeat-7.17.0": { is_write_index: true } } },
      status: 200,
      at: { index: /^filebeat-7\.17\.0-\d{4}\.\d\d\.\d\d-000001$/ },
    },
    {
      ask: "POST /_bulk",
      body: NDJSON({ create: { _index: "filebeat-7.17.0" } }, EVENT),
      status: 200,
      at: { errors: false, "items.0.create.status": 201 },
    },
  ],
};
