/** Curator and elasticdump: what operators run. */

import { EVENT, NDJSON, type Programs } from "./start-up-requests.ts";

export const TOOLS: Programs = {
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
