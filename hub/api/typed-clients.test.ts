import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readUpdateBody } from "#hub/api/routes/documents/update.ts";
import { checkKeys } from "#hub/api/routes/snapshots/restore-snapshot.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf, type Json } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const EIGHT = { accept: "application/vnd.elasticsearch+json; compatible-with=8" };

before(async () => {
  await hub.start();
  await send("PUT", "/there", { mappings: { properties: { a: { type: "keyword" } } } });
  await send("PUT", "/there/_doc/1", { a: "x" });
  await send("PUT", "/_component_template/parts", { template: { settings: { number_of_shards: 1 } } });
  await send("PUT", "/_index_template/t", {
    index_patterns: ["s-*"],
    data_stream: {},
    composed_of: ["parts"],
  });
  await send("PUT", "/_data_stream/s-1");
});
after(() => hub.stop());

/** Fields without which the typed client of 8 throws, by request: each path leads to something. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "GET /there/_stats": [
    "_all.primaries.docs.total_size_in_bytes",
    "_all.primaries.store.reserved_in_bytes",
    "_all.primaries.merges.total_auto_throttle_in_bytes",
    "_all.primaries.refresh.external_total",
    "_all.primaries.segments.term_vectors_memory_in_bytes",
    "_all.primaries.fielddata.global_ordinals",
  ],
  "GET /there/_search_shards": ["nodes.*.ephemeral_id", "nodes.*.roles", "nodes.*.max_index_version"],
  "GET /_cluster/health?level=shards": [
    "unassigned_primary_shards",
    "indices.there.unassigned_primary_shards",
    "indices.there.shards.0.unassigned_primary_shards",
  ],
  "GET /_cluster/stats": [
    "ccs._search.took",
    "indices.search",
    "nodes.ingest",
    "snapshots",
    "nodes.process.cpu.percent",
  ],
  "GET /_nodes": ["nodes.*.settings.node.attr", "nodes.*.settings.cluster.election", "nodes.*.index_version"],
  "GET /_nodes/stats": ["nodes.*.http.routes"],
  "GET /_tasks": ["nodes.*.attributes"],
  "GET /_data_stream/s-1": [
    "data_streams.0.next_generation_managed_by",
    "data_streams.0.prefer_ilm",
    "data_streams.0.indices.0.managed_by",
  ],
  "GET /_license": ["license.issue_date", "license.start_date_in_millis"],
  "GET /_xpack": ["features.universal_profiling", "tagline"],
  "GET /_cat/component_templates": ["0.included_in"],
};

for (const [request, paths] of Object.entries(REQUIRED)) {
  test(`${request} has the fields that typed clients of 8 require`, async () => {
    const [method = "", path = ""] = request.split(" ");
    const { body, text } = await send(method, path, undefined, EIGHT);
    for (const each of paths) assert.notEqual(at(body, each), undefined, `${each} in ${text.slice(0, 500)}`);
  });
}

/** Value at dotted keys; `*` is the first key. */
function at(json: Json, path: string): unknown {
  return path
    .split(".")
    .reduce<Json | undefined>((value, key) => value?.[key === "*" ? Object.keys(value)[0]! : key], json);
}

test("fields of later versions aren't in answers of 6.5", async () => {
  const { text } = await send("GET", "/there/_stats");
  assert.doesNotMatch(
    text,
    /total_size_in_bytes":\d+,?"?}?,"store|reserved_in_bytes|auto_throttle|external_total/,
  );
});

test("a stream names the policy of its indices", async () => {
  const template = { settings: { "index.lifecycle.name": "logs" } };
  await send("PUT", "/_index_template/m", { index_patterns: ["m-*"], data_stream: {}, template });
  await send("PUT", "/_data_stream/m-1");
  const eight = (await send("GET", "/_data_stream/m-1", undefined, EIGHT)).body["data_streams"]![0]!;
  assert.equal(eight["ilm_policy"], "logs");
  assert.equal(eight["indices"]![0]!["managed_by"], "Index Lifecycle Management");
  assert.equal((await send("GET", "/_data_stream/m-1")).body["data_streams"]![0]!["ilm_policy"], "logs");
});

test("a client can ask who it is", async () => {
  const { status, body } = await send("GET", "/_security/_authenticate");
  assert.equal(status, 200);
  assert.deepEqual([body["username"], body["roles"], body["enabled"]], ["anonymous", ["admin"], true]);
});

test("health is reported by subject, for one of them, and shortly", async () => {
  const { body } = await send("GET", "/_health_report", undefined, EIGHT);
  // The replica of each index has no hub.
  assert.equal(body["status"], "yellow");
  const { master_is_stable: master, shards_availability: shards } = body["indicators"]!;
  assert.equal(master!["details"]!["current_master"]!["name"] !== undefined, true);
  assert.equal(shards!["details"]!["unassigned_primaries"], 0);
  const one = await send("GET", "/_health_report/disk?verbose=false", undefined, EIGHT);
  assert.deepEqual(one.body["indicators"], {
    disk: { status: "green", symptom: "The cluster has enough available disk space." },
  });
  assert.equal((await send("GET", "/_health_report/none", undefined, EIGHT)).status, 404);
});

test("lifecycle policies are a feature from 6.6 on", async () => {
  const ilm = async (headers?: Record<string, string>): Promise<unknown> =>
    (await send("GET", "/_xpack", undefined, headers)).body["features"]!["ilm"];
  const later = (await ilm(EIGHT)) as Json;
  assert.deepEqual([later["available"], later["enabled"]], [true, true]);
  assert.equal(((await ilm()) as Json)["available"], false);
});

test("an empty body simulates the stored template", async () => {
  const { status, body } = await send("POST", "/_index_template/_simulate/t", {});
  assert.equal(status, 200);
  assert.equal(body["template"]!["settings"]!["index"]!["number_of_shards"], "1");
});

for (const path of [
  "/_nodes/hot_threads",
  "/_cluster/nodes/hotthreads",
  "/_query",
  "/there/_mvt/a/1/2/3",
  "/_ssl/certificates",
]) {
  test(`${path} isn't taken for something else`, async () => {
    const { status, text } = await send("GET", path);
    assert.equal(status, 501);
    assert.match(text, /not offered; /);
  });
}

/** What the high-level client of 6.8 sends with every list of indices. */
const OPTIONS_68 =
  "ignore_throttled=false&ignore_unavailable=false&expand_wildcards=open,closed&allow_no_indices=true";

for (const [method, path] of [
  ["HEAD", "/there?include_type_name=false"],
  ["GET", "/there?include_type_name=false"],
  ["POST", "/there/_refresh?"],
  ["POST", "/there/_flush?force=false&wait_if_ongoing=true"],
  ["POST", "/there/_forcemerge?only_expunge_deletes=false&flush=true&max_num_segments=-1"],
  ["POST", "/there/_cache/clear?request=false&fielddata=false&query=false"],
  ["GET", "/there/_mapping?include_type_name=false"],
  ["GET", "/there/_mapping/field/a?include_type_name=false"],
  ["GET", "/there/_settings?include_defaults=true"],
  ["GET", "/_alias?"],
  ["GET", "/_cat/indices?"],
  ["POST", "/there/_open?"],
] as const) {
  test(`${method} ${path} takes the options of the high-level client`, async () => {
    const { status, text } = await send(method, `${path}&${OPTIONS_68}`);
    assert.equal(status, 200, text);
  });
}

test("doc_as_upsert in the query counts unless the body says otherwise", () => {
  const read = (text: string) =>
    readUpdateBody(Buffer.from(text), undefined, { upserts: true, mayBeBare: false }).docAsUpsert;
  assert.equal(read('{"doc":{"a":"y"},"doc_as_upsert":false}'), false);
  assert.equal(read('{"doc":{"a":"y"}}'), true);
});

test("a snapshot's body may repeat its path and name empty options, but nothing else", () => {
  checkKeys({ repository: "r", snapshot: "s", feature_states: [], settings: {}, indices: ["a"] }, [
    "indices",
  ]);
  assert.throws(() => checkKeys({ feature_states: ["geoip"] }, []), /Unknown parameter feature_states/);
  assert.throws(() => checkKeys({ partial: true }, ["indices"]), /Unknown parameter partial/);
});

test("parameters that are false as by default bring no warning", async () => {
  const { headers } = await send("GET", "/there/_validate/query?rewrite=false&all_shards=false");
  assert.equal(headers["warning"], undefined);
});

test("a search is warned that it isn't scored by the frequencies of all shards", async () => {
  const type = "search_type=dfs_query_then_fetch";
  const { headers } = await send("GET", `/_search?${type}`);
  assert.match(String(headers["warning"]), /parameter \[search_type=dfs_query_then_fetch\] is accepted/);
  const usual = await send("GET", "/_search?search_type=query_then_fetch");
  assert.equal(usual.headers["warning"], undefined);
});

test("clients of 7 get no options of streams that they refuse", async () => {
  const seven = { accept: "application/vnd.elasticsearch+json; compatible-with=7" };
  for (const path of ["/_data_stream/s-1", "/_index_template/t"])
    assert.doesNotMatch((await send("GET", path, undefined, seven)).text, /allow_custom_routing/);
});
