import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const SEVEN = {
  accept: "application/vnd.elasticsearch+json; compatible-with=7",
  "content-type": "application/vnd.elasticsearch+json; compatible-with=7",
};

before(async () => {
  await hub.start();
  await send("PUT", "/there", { mappings: { properties: { a: { type: "keyword" } } } });
  await send("PUT", "/there/_doc/1", { a: "x" });
});
after(() => hub.stop());

const TYPED = { mappings: { _doc: { properties: { a: { type: "keyword" } } } } };
const NESTED = /cannot be nested under a type \[_doc\] unless include_type_name is set to true/;
const OLD_KEY = '{"index":{"_index":"there","_routing":"r"}}\n{"a":1}\n';

for (const [method, path, body, pattern] of [
  ["PUT", "/typed", TYPED, NESTED],
  ["PUT", "/_template/typed", { index_patterns: "x-*", ...TYPED }, NESTED],
  ["PUT", "/there/_mapping", TYPED.mappings, /Types cannot be provided in put mapping requests/],
  ["POST", "/_bulk", OLD_KEY, /contains an unknown parameter \[_routing\]/],
  ["POST", "/there/_flush?force=true&wait_if_ongoing=false", undefined, /must be true for a force flush/],
] as const) {
  test(`${method} ${path} is refused from 7 on, and taken by 6`, async () => {
    const later = await send(method, path, body, body === undefined ? { accept: SEVEN.accept } : SEVEN);
    assert.equal(later.status, 400);
    assert.match(later.text, pattern);
    assert.equal((await send(method, path, body)).status, 200);
  });
}

test("a document is shown with its sequence number from 6.6 on, one that isn't there without a type from 7 on", async () => {
  await send("PUT", "/bare");
  assert.equal((await send("GET", "/there/_doc/1")).body["_seq_no"], undefined);
  const later = (await send("GET", "/there/_doc/1", undefined, { accept: SEVEN.accept })).body;
  assert.equal(typeof later["_seq_no"], "number");
  const docs = { docs: [{ _index: "bare", _id: "1" }] };
  assert.equal((await send("POST", "/_mget", docs)).body["docs"]![0]!["_type"], "_doc");
  assert.equal((await send("POST", "/_mget", docs, SEVEN)).body["docs"]![0]!["_type"], null);
});

test("the reason names a missing index from 7 on", async () => {
  const reason = async (headers: object) =>
    (await send("GET", "/missing/_search", undefined, { ...headers })).body["error"]!["reason"];
  assert.equal(await reason({}), "no such index");
  assert.equal(await reason({ accept: SEVEN.accept }), "no such index [missing]");
});

test("an index of one shard is split with routing shards of its own from 7 on", async () => {
  await send("PUT", "/single", { settings: { number_of_shards: 1 } });
  const settings = { number_of_shards: 2, number_of_routing_shards: 4 };
  const refused = await send("POST", "/single/_split/more", { settings });
  assert.match(refused.text, /cannot provide index.number_of_routing_shards on resize/);
  assert.match((await send("POST", "/single/_split/more", { settings }, SEVEN)).text, /must be read-only/);
});

test("a conflict names the document without its type from 7.10 on", async () => {
  const reason = async (version: number): Promise<unknown> => {
    const type = `application/vnd.elasticsearch+json; compatible-with=${version}`;
    const headers = { accept: type, "content-type": type };
    const { body } = await send("PUT", "/there/_create/1", { a: "x" }, headers);
    return body["error"]!["reason"];
  };
  assert.match(String(await reason(7)), /^\[_doc\]\[1\]: version conflict/);
  assert.match(String(await reason(8)), /^\[1\]: version conflict/);
});

test("local is deprecated where mappings of fields are shown, from 7.8 on", async () => {
  const warning = async (headers: object) =>
    String(
      (await send("GET", "/there/_mapping/field/a?local=true", undefined, { ...headers })).headers["warning"],
    );
  assert.equal(await warning({}), "undefined");
  const later = "application/vnd.elasticsearch+json; compatible-with=8";
  assert.match(await warning({ accept: later }), /Use \[local\] in get field mapping requests is deprecated/);
});

test("a task is listed with what the client calls it, and every answer has it", async () => {
  const listed = await send("GET", "/_tasks?group_by=none", undefined, { "x-opaque-id": "mine" });
  assert.equal(listed.headers["x-opaque-id"], "mine");
  const refused = await send("GET", "/missing/_search", undefined, { "x-opaque-id": "x".repeat(2_000) });
  assert.deepEqual([refused.status, refused.headers["x-opaque-id"]], [404, "x".repeat(1_000)]);
  assert.ok(!("x-opaque-id" in (await send("GET", "/")).headers));
  assert.deepEqual(listed.body["tasks"]![0]!["headers"], { "X-Opaque-Id": "mine" });
});

for (const [expression, count] of [
  ["", 1],
  ["/_all", 1],
  ["/_local", 1],
  ["/node-id", 1],
  ["/hub-*", 1],
  ["/master:true", 1],
  ["/data:false", 0],
  ["/rack:r*", 1],
  ["/rack:other", 0],
  ["/unknown", 0],
  ["/http", 1],
  ["/unknown,http", 0],
] as const) {
  test(`GET /_nodes${expression} tells of ${count} nodes`, async () => {
    const { body } = await send("GET", `/_nodes${expression}`);
    assert.equal(body["_nodes"]!["total"], count);
    assert.equal(Object.keys(body["nodes"]!).length, count);
  });
}

test("only the parts of a node that are asked for are shown", async () => {
  const keys = async (path: string) => Object.keys((await send("GET", path)).body["nodes"]!["node-id"]!);
  assert.ok((await keys("/_nodes")).includes("settings"));
  assert.deepEqual(
    (await keys("/_nodes/http")).filter((key) => ["http", "settings", "transport"].includes(key)),
    ["http"],
  );
  assert.ok(!(await keys("/_nodes/_local/transport,jvm")).includes("http"));
});

test("a closed index is counted with its copies from 7.2 on", async () => {
  await send("PUT", "/shut", { settings: { number_of_shards: 1, number_of_replicas: 0 } });
  await send("POST", "/shut/_close");
  const table = "/_cat/indices/shut?h=health,status,pri,rep&format=json";
  assert.deepEqual((await send("GET", table)).body[0], {
    health: null,
    status: "close",
    pri: null,
    rep: null,
  });
  const eight = { accept: "application/vnd.elasticsearch+json; compatible-with=8" };
  assert.deepEqual((await send("GET", table, undefined, eight)).body[0], {
    health: "green",
    status: "close",
    pri: "1",
    rep: "0",
  });
  assert.deepEqual((await send("GET", "/shut/_recovery")).body, {});
  const shards = (await send("GET", "/shut/_recovery?detailed", undefined, eight)).body["shut"]!["shards"]!;
  assert.equal(shards[0]!["type"], "EXISTING_STORE");
  assert.deepEqual(shards[0]!["index"]!["files"]!["details"], []);
});

test("names of absent nodes are left out of votes, and those that are there refused", async () => {
  const path = "/_cluster/voting_config_exclusions";
  assert.equal((await send("POST", `${path}?node_ids=gone`)).status, 200);
  const state = await send("GET", "/_cluster/state/metadata", undefined, { accept: SEVEN.accept });
  const { voting_config_exclusions: listed } = state.body["metadata"]!["cluster_coordination"] as unknown as {
    voting_config_exclusions: unknown;
  };
  assert.deepEqual(listed, [{ node_id: "gone", node_name: "_absent_" }]);
  assert.match((await send("POST", `${path}?node_ids=node-id`)).text, /stop the hub instead/);
  assert.match((await send("POST", `${path}?node_ids=a&node_names=b`)).text, /One and only one of/);
  assert.equal((await send("DELETE", path)).status, 200);
});

test("hidden aliases are listed unless expand_wildcards leaves them out", async () => {
  await send("PUT", "/there/_alias/secret", { is_hidden: true });
  const table = "/_cat/aliases?h=alias";
  assert.equal((await send("GET", table)).text.trim(), "secret");
  assert.equal((await send("GET", `${table}&expand_wildcards=open,closed`)).text.trim(), "");
});

test("the contexts of scripts are listed", async () => {
  const { body } = await send("GET", "/_script_context");
  const contexts = body["contexts"] as unknown as { name: string; methods: { name: string }[] }[];
  assert.ok(contexts.some(({ name, methods }) => name === "update" && methods[0]!.name === "execute"));
});

test("a document of a mapping with _source disabled isn't shown", async () => {
  await send("PUT", "/unseen", { mappings: { _doc: { _source: { enabled: false } } } });
  await send("PUT", "/unseen/_doc/1", { a: 1 });
  const { body } = await send("GET", "/unseen/_doc/1");
  assert.deepEqual([body["found"], body["_source"]], [true, undefined]);
  assert.equal((await send("GET", "/unseen/_doc/1/_source")).status, 404);
  const changed = await send("PUT", "/unseen/_mapping/_doc", { _source: { enabled: true } });
  assert.match(changed.text, /Cannot update enabled setting for \[_source\]/);
});

test("fields say from 7.13 on whether they are metadata", async () => {
  const path = "/there/_field_caps?fields=a,_id";
  const metadata = async (headers: Readonly<Record<string, string>>): Promise<unknown[]> => {
    const fields = (await send("GET", path, undefined, headers)).body["fields"] as unknown as Record<
      string,
      Record<string, { metadata_field?: boolean }>
    >;
    return [fields["_id"]!["_id"]!.metadata_field, fields["a"]!["keyword"]!.metadata_field];
  };
  assert.deepEqual(await metadata({ accept: SEVEN.accept }), [undefined, undefined]);
  assert.deepEqual(await metadata({ accept: SEVEN.accept.replace("7", "8") }), [true, false]);
});

test("a template is looked for with the parameter that it is shown with", async () => {
  await send("PUT", "/_template/kept", { index_patterns: ["kept-*"] });
  assert.equal((await send("HEAD", "/_template/kept?include_type_name=true")).status, 200);
  assert.equal((await send("HEAD", "/_template/other?include_type_name=true")).status, 404);
});
