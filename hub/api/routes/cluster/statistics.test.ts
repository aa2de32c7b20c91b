import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";

const hub = new FakeHub();
before(async () => {
  await hub.start();
  await send("PUT", "/a", { settings: { number_of_shards: 1, number_of_replicas: 0 } });
  await send("PUT", "/a/_doc/1", { n: 1 });
  await send("PUT", "/a/_doc/2", { n: 2 });
  await send("DELETE", "/a/_doc/2");
  await send("GET", "/a/_doc/1");
  await send("GET", "/a/_doc/9");
  await send("POST", "/a/_search", { stats: ["dashboards"] });
  await send("GET", "/a/_search?stats=scripts,pages");
  await send("POST", "/a/_search", { stats: ["pages"], suggest: {} });
});
after(() => hub.stop());

// Answers are looked into at any depth, as a client does.
type Json = { readonly [key: string]: Json };

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Json;
  readonly warnings: string | null;
}

async function send(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(hub.server.addresses.http + path, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  return {
    status: response.status,
    text,
    body: (isJson ? JSON.parse(text) : {}) as Json,
    warnings: response.headers.get("warning"),
  };
}

/** Returns the value at a dotted path. */
function at(body: Json, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (value as Json | undefined)?.[key], body);
}

/** Path, place in the answer, value there. */
const FIGURES: readonly (readonly [string, string, string | number | undefined])[] = [
  ["/_stats", "_all.total.indexing.index_total", 2],
  ["/a/_stats/indexing", "indices.a.primaries.indexing.delete_total", 1],
  ["/a/_stats/indexing", "_all.total.docs", undefined],
  ["/_stats/indexing", "_all.total.indexing.types", undefined],
  ["/_stats/indexing?types=_d*,none", "_all.total.indexing.types._doc.index_total", 2],
  ["/_stats/indexing?types=none", "_all.total.indexing.types", undefined],
  ["/a/_stats/docs?level=shards", "indices.a.shards.0.0.commit.generation", 1],
  ["/_stats/fielddata", "_all.total.fielddata.memory_size_in_bytes", 24],
  ["/_stats/fielddata", "_all.total.fielddata.fields", undefined],
  ["/_stats/fielddata?fields=mess*", "_all.total.fielddata.fields.message.memory_size_in_bytes", 24],
  ["/_stats/fielddata?fielddata_fields=none", "_all.total.fielddata.fields", undefined],
  ["/_stats/completion", "_all.total.completion.size_in_bytes", 48],
  ["/_stats?completion_fields=n*", "_all.total.completion.fields.names.size_in_bytes", 48],
  ["/_nodes/stats/discovery", "nodes.node-id.discovery.cluster_state_queue.total", 0],
  ["/_stats/get", "_all.total.get.total", 2],
  ["/_stats/get", "_all.total.get.missing_total", 1],
  ["/_stats/search", "_all.total.search.query_total", 2],
  ["/_stats/search", "_all.total.search.suggest_total", 1],
  ["/_stats/search?groups=pages", "_all.total.search.groups.pages.suggest_total", 1],
  ["/_stats/search", "_all.total.search.groups", undefined],
  ["/_stats/search?groups=dash*", "_all.total.search.groups.dashboards.query_total", 1],
  ["/_stats/search?groups=pages", "_all.total.search.groups.pages.query_total", 1],
  ["/_stats/store", "_all.total.store.size_in_bytes", 1536],
  ["/_stats/segments?include_segment_file_sizes", "_all.total.segments.file_sizes.seg.size_in_bytes", 1536],
  ["/_nodes/stats/indices/docs", "nodes.node-id.indices.docs.count", 3],
  ["/_nodes/stats/indices/docs", "nodes.node-id.indices.store", undefined],
  ["/_nodes/stats/indices?level=indices", "nodes.node-id.indices.indices.a.docs.count", 3],
  ["/_nodes/hub-*/stats/os", "nodes.node-id.indices", undefined],
  ["/_nodes/nobody/stats", "_nodes.total", 0],
  ["/_cluster/stats", "indices.count", 1],
  ["/_cluster/stats", "nodes.discovery_types.single-node", 1],
  ["/_cluster/stats", "nodes.packaging_types.0.type", "tar"],
  ["/a/_segments", "indices.a.shards.0.0.segments._0.num_docs", 3],
  ["/a/_recovery?active_only=true", "a", undefined],
];

for (const [path, place, expected] of FIGURES) {
  test(`GET ${path} has ${expected ?? "nothing"} at ${place}`, async () => {
    const { status, body } = await send("GET", path);
    assert.equal(status, 200);
    assert.equal(at(body, place), expected);
  });
}

test("a node lists what other servers have as modules, and no plugins", async () => {
  for (const [path, there] of [
    ["/_nodes", true],
    ["/_nodes/plugins", true],
    ["/_nodes/http", false],
  ] as const) {
    const { body } = await send("GET", path);
    const [node] = Object.values(body["nodes"] as unknown as Record<string, Json>);
    const { plugins, modules } = node!;
    assert.deepEqual(plugins, there ? [] : undefined, path);
    const names = Array.from((modules ?? []) as unknown as Json[], ({ name }) => name as unknown);
    assert.equal(names.includes("ingest-geoip"), there, path);
  }
});

test("GET /_tasks?group_by=parents has tasks by their id", async () => {
  const { body } = await send("GET", "/_tasks?group_by=parents");
  const [[id, task] = ["", {}]] = Object.entries(body["tasks"] as unknown as Record<string, Json>);
  assert.match(id, /^node-id:\d+$/);
  assert.equal(task["action"], "cluster:monitor/tasks/lists");
});

test("a metric that there isn't is refused with the nearest", async () => {
  const { status, body } = await send("GET", "/_nodes/stats/transprot");
  assert.equal(status, 400);
  assert.equal(
    at(body, "error.reason"),
    "request [/_nodes/stats/transprot] contains unrecognized metric: [transprot] -> did you mean [transport]?",
  );
});

test("tables of shards' places, tasks and attributes have their columns", async () => {
  assert.match((await send("GET", "/_cat/allocation?h=shards,node")).text, /^1 hub-1\n$/);
  assert.match(
    (await send("GET", "/_cat/tasks?h=action,ip")).text,
    /^cluster:monitor\/tasks\/lists 127\.0\.0\.1\n$/,
  );
  assert.deepEqual((await send("GET", "/_cat/repositories?format=json")).body, []);
  assert.equal((await send("GET", "/_cat/nodeattrs?h=attr,value")).text, "rack r1\n");
  assert.equal((await send("GET", "/_cat/fielddata?h=node,field,size")).text, "hub-1 message 24b\n");
  assert.equal((await send("GET", "/_cat/fielddata/other")).text, "");
  assert.match((await send("GET", "/_cat/health?ts=false")).text, /^test +green/);
});

test("columns of shards show the statistics that _stats shows by index", async () => {
  const names =
    "docs,store,completion.size,fielddata.memory_size,segments.count,segments.index_writer_memory";
  assert.equal((await send("GET", `/_cat/shards/a?h=${names}`)).text, "3 1.5kb 48b 24b 1 100b\n");
  const { body } = await send("GET", "/a/_stats?level=shards");
  assert.equal(at(body, "indices.a.shards.0.0.segments.index_writer_memory_in_bytes"), 100);
  assert.equal(at(body, "indices.a.shards.0.0.completion.size_in_bytes"), 48);
});

test("what later versions won't take is warned of, each text once", async () => {
  const { warnings } = await send("POST", "/a/_search?preference=_primary", {
    docvalue_fields: ['a"b', "é"],
  });
  assert.match(warnings ?? "", /^299 Elasticsearch-6\.5\.4-\w+ "/);
  assert.match(warnings ?? "", /\[_primary\] has been deprecated in 6\.1\+/);
  assert.match(warnings ?? "", /\[a\\"b, %C3%A9\]/);
  assert.equal((await send("POST", "/a/_search", {})).warnings, null);
});

test("fields of action lines with an underscore before them are warned of", async () => {
  const action = { index: { _index: "warned", _id: "1", _routing: "r" } };
  const response = await fetch(`${hub.server.addresses.http}/_bulk`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: `${JSON.stringify(action)}\n{}\n`,
  });
  assert.match(response.headers.get("warning") ?? "", /\[_routing\] used, expected \[routing\] instead/);
});

test("a task of an unknown node is answered with an error", async () => {
  const elsewhere = await send("GET", "/_tasks/foo:1");
  assert.equal(elsewhere.status, 404);
  assert.match(String(at(elsewhere.body, "error.reason")), /belongs to the node \[foo\] which isn't part/);
  const gone = await send("GET", "/_tasks/node-id:999");
  assert.match(String(at(gone.body, "error.reason")), /isn't running and hasn't stored its results/);
});

test("every node answers that it has its secrets", async () => {
  const { status, body } = await send("POST", "/_nodes/reload_secure_settings");
  assert.equal(status, 200);
  assert.equal(at(body, "nodes.node-id.name"), "hub-1");
  assert.equal(at(body, "nodes.node-id.reload_exception"), undefined);
});

test("a password of the keystore, which has none, is wrong", async () => {
  const given = { secure_settings_password: "guessed" };
  const { status, body } = await send("POST", "/_nodes/reload_secure_settings", given);
  assert.equal(status, 200);
  assert.equal(at(body, "nodes.node-id.reload_exception.type"), "security_exception");
});

test("a name that begins with _ isn't an index, whatever is done with it", async () => {
  for (const path of ["/_nothing", "/_nothing/_search", "/_nothing/_stats", "/_nothing/_mapping"]) {
    const { status, body } = await send("GET", path);
    assert.equal(status, 400, path);
    assert.equal(at(body, "error.type"), "invalid_index_name_exception", path);
  }
});
