import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const hub = new FakeHub();
const ingest = new IngestPipelines(new MemoryBucket(), silentLogger());
const send = clientOf(() => hub.server.addresses.http);
const PIPELINE = {
  description: "access",
  processors: [
    { grok: { field: "message", patterns: ["%{IP:ip} %{NUMBER:status:int}"] } },
    { set: { field: "_index", value: "status-{{status}}" } },
  ],
};

before(async () => {
  await ingest.start();
  hub.ingest = ingest;
  await hub.start();
});
after(async () => {
  await hub.stop();
  await ingest.stop();
});

test("a pipeline is stored, shown and deleted as clients of 6.5 expect", async () => {
  assert.deepEqual((await send("PUT", "/_ingest/pipeline/a", PIPELINE)).body, { acknowledged: true });
  assert.deepEqual((await send("GET", "/_ingest/pipeline/a")).body, { a: PIPELINE });
  assert.deepEqual((await send("GET", "/_ingest/pipeline")).body, { a: PIPELINE });
  const none = await send("GET", "/_ingest/pipeline/none");
  assert.deepEqual([none.status, none.body], [404, {}]);
  assert.equal((await send("DELETE", "/_ingest/pipeline/a*")).status, 200);
  const gone = await send("DELETE", "/_ingest/pipeline/a");
  assert.deepEqual([gone.status, gone.body["error"]!["type"]], [404, "resource_not_found_exception"]);
  const refused = await send("PUT", "/_ingest/pipeline/b", {
    processors: [{ uppercas: {} }],
  });
  assert.deepEqual([refused.status, refused.body["error"]!["type"]], [400, "parse_exception"]);
  assert.match(refused.text, /No processor type exists with name \[uppercas\]; did you mean \[uppercase\]/);
});

test("documents go through the pipeline they ask for, one by one or in bulk", async () => {
  await send("PUT", "/_ingest/pipeline/access", PIPELINE);
  await send("PUT", "/_ingest/pipeline/none", { processors: [{ drop: {} }] });
  const made = await send("PUT", "/web/_doc/1?pipeline=access", { message: "10.0.0.1 404" });
  assert.deepEqual([made.status, made.body["_index"]], [201, "status-404"]);
  assert.deepEqual((await send("GET", "/status-404/_doc/1")).body["_source"], {
    message: "10.0.0.1 404",
    ip: "10.0.0.1",
    status: 404,
  });
  const failed = await send("PUT", "/web/_doc/2?pipeline=access", { message: "odd" });
  assert.deepEqual([failed.status, failed.body["error"]!["type"]], [500, "exception"]);
  assert.deepEqual(failed.body["error"]!["header"], { processor_type: "grok" });
  assert.match(failed.text, /Provided Grok expressions do not match field value: \[odd\]/);
  const lines = [
    { index: { _id: "3" } },
    { message: "10.0.0.1 200" },
    { index: { _id: "4" } },
    { message: "odd" },
    { index: { _id: "5", pipeline: "_none" } },
    { message: "as it is" },
    { index: { _id: "6", pipeline: "none" } },
    { message: "dropped" },
    { index: { _id: "7", pipeline: "missing" } },
    { message: "x" },
  ];
  const body = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  const answer = await send("POST", "/web/_bulk?pipeline=access", body, {
    "content-type": "application/x-ndjson",
  });
  const items = answer.body["items"] as unknown as { index: Record<string, unknown> }[];
  assert.deepEqual(
    items.map(({ index }) => [index["_index"], index["_id"], index["status"], index["result"]]),
    [
      ["status-200", "3", 201, "created"],
      ["web", "4", 500, undefined],
      ["web", "5", 201, "created"],
      ["web", "6", 200, "noop"],
      ["web", "7", 400, undefined],
    ],
  );
  assert.deepEqual((await send("GET", "/web/_doc/5")).body["_source"], { message: "as it is" });
  assert.equal((await send("GET", "/web/_doc/6")).status, 404);
});

test("documents go through the pipelines of their index, the last one after all others", async () => {
  const adds = (field: string) => ({ processors: [{ set: { field, value: true } }] });
  for (const name of ["first", "asked", "last"]) await send("PUT", `/_ingest/pipeline/${name}`, adds(name));
  const settings = { default_pipeline: "first", final_pipeline: "last" };
  await send("PUT", "/_template/piped", { index_patterns: ["piped-*"], settings });
  const bulk = `${['{"index":{"_id":"4"}}', '{"n":1}'].join("\n")}\n`;
  await send("POST", "/piped-1/_bulk", bulk, { "content-type": "application/x-ndjson" });
  for (const [id, query] of [
    ["1", ""],
    ["2", "?pipeline=asked"],
    ["3", "?pipeline=_none"],
  ] as const)
    assert.equal((await send("PUT", `/piped-1/_doc/${id}${query}`, { n: 1 })).status, 201, id);
  for (const [id, expected] of [
    ["1", { n: 1, first: true, last: true }],
    ["2", { n: 1, asked: true, last: true }],
    ["3", { n: 1, last: true }],
    ["4", { n: 1, first: true, last: true }],
  ] as const)
    assert.deepEqual((await send("GET", `/piped-1/_doc/${id}`)).body["_source"], expected, id);
  await send("PUT", "/piped-1/_settings", { index: { final_pipeline: "missing" } });
  const refused = await send("PUT", "/piped-1/_doc/5", { n: 1 });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /pipeline with id \[missing\] does not exist/);
  await send("PUT", "/piped-1/_settings", { index: { default_pipeline: "_none", final_pipeline: "_none" } });
  await send("PUT", "/piped-1/_doc/6", { n: 1 });
  assert.deepEqual((await send("GET", "/piped-1/_doc/6")).body["_source"], { n: 1 });
});

test("a simulation shows documents at the end, or after each processor", async () => {
  const docs = [{ _source: { message: "10.0.0.1 200" } }, { _source: { message: "odd" } }];
  const plain = await send("POST", "/_ingest/pipeline/_simulate", { pipeline: PIPELINE, docs });
  const [first, second] = plain.body["docs"] as unknown as Record<string, Record<string, unknown>>[];
  assert.equal(first!["doc"]!["_index"], "status-200");
  assert.deepEqual(first!["doc"]!["_source"], { message: "10.0.0.1 200", ip: "10.0.0.1", status: 200 });
  assert.match(String(second!["error"]!["reason"]), /do not match field value/);
  await send("PUT", "/_ingest/pipeline/access", PIPELINE);
  const verbose = await send("POST", "/_ingest/pipeline/access/_simulate?verbose", { docs });
  const [steps] = verbose.body["docs"] as unknown as { processor_results: { doc: { _index: string } }[] }[];
  assert.deepEqual(
    steps!.processor_results.map(({ doc }) => doc._index),
    ["_index", "status-200"],
  );
  const missing = await send("POST", "/_ingest/pipeline/_simulate", { docs });
  assert.match(missing.text, /\[pipeline\] required property is missing/);
});

test("the time of pipelines is in the answer, and what they did in the statistics of the node", async () => {
  await send("PUT", "/_ingest/pipeline/count", { processors: [{ set: { field: "a", value: 1 } }] });
  const ndjson = { "content-type": "application/x-ndjson" };
  const plain = await send("POST", "/counted/_bulk", '{"index":{}}\n{"b":1}\n', ndjson);
  assert.equal("ingest_took" in plain.body, false);
  const answer = await send("POST", "/counted/_bulk?pipeline=count", '{"index":{}}\n{"b":1}\n', ndjson);
  assert.equal(typeof answer.body["ingest_took"], "number");
  const { body } = await send("GET", "/_nodes/stats/ingest");
  const [node] = Object.values(body["nodes"] as unknown as Record<string, { ingest: JsonObject }>);
  const { count, failed, current } = (node!.ingest["pipelines"] as Record<string, JsonObject>)["count"]!;
  assert.deepEqual([count, failed, current], [1, 0, 0]);
});

test("a script that fails is answered with its place, in simulations and where documents are written", async () => {
  const processors = [{ script: { source: "ctx.none.length()" } }];
  const simulated = await send("POST", "/_ingest/pipeline/_simulate", {
    pipeline: { processors },
    docs: [{ _source: {} }],
  });
  const [doc] = simulated.body["docs"] as unknown as { error: JsonObject }[];
  const nested = "ScriptException[runtime error]; nested: NullPointerException;";
  const wrapped = {
    type: "exception",
    reason: `java.lang.IllegalArgumentException: ${nested}`,
    header: { processor_type: "script" },
  };
  assert.deepEqual(doc!.error, {
    root_cause: [wrapped],
    ...wrapped,
    caused_by: {
      type: "illegal_argument_exception",
      reason: nested,
      caused_by: {
        type: "script_exception",
        reason: "runtime error",
        script_stack: ["ctx.none.length()", "        ^---- HERE"],
        script: "ctx.none.length()",
        lang: "painless",
        caused_by: { type: "null_pointer_exception", reason: null },
      },
    },
  });
  await send("PUT", "/_ingest/pipeline/broken", { processors });
  const written = await send("PUT", "/web/_doc/9?pipeline=broken", { a: 1 });
  const error = written.body["error"]!;
  assert.equal(error["reason"], wrapped.reason);
  assert.match(JSON.stringify(error["caused_by"]), /"script_stack":\["ctx\.none\.length\(\)"/);
});

test("an index that pipelines choose gets the type of the document, and the named one isn't made", async () => {
  await send("PUT", "/_ingest/pipeline/moved", {
    processors: [{ set: { field: "_index", value: "moved" } }],
  });
  await send("PUT", "/_ingest/pipeline/typed", {
    processors: [{ set: { field: "_index", value: "typed" } }, { set: { field: "_type", value: "log" } }],
  });
  const made = await send("PUT", "/named/event/1?pipeline=moved", { a: 1 });
  assert.deepEqual([made.body["_index"], made.body["_type"]], ["moved", "event"]);
  const lines = [{ index: { _index: "named", _type: "event", pipeline: "typed" } }, { a: 1 }];
  const body = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  const bulk = await send("POST", "/_bulk", body, { "content-type": "application/x-ndjson" });
  const [item] = bulk.body["items"] as unknown as { index: JsonObject }[];
  assert.deepEqual([item!.index["_index"], item!.index["_type"]], ["typed", "log"]);
  assert.deepEqual(Object.keys((await send("GET", "/typed/_mapping")).body["typed"]!["mappings"]!), ["log"]);
  assert.equal((await send("GET", "/named")).status, 404);
  const other = await send("PUT", "/named/other/1?pipeline=moved", { a: 1 });
  assert.equal(other.status, 400);
  assert.match(other.text, /more than 1 type: \[event, other\]/);
});

test("an update sends the merged document through the pipelines of its index", async () => {
  const count = { script: { source: "ctx.n = ctx.containsKey('n') ? ctx.n + 1 : 1" } };
  await send("PUT", "/_ingest/pipeline/counted", { processors: [count] });
  await send("PUT", "/_ingest/pipeline/at-last", { processors: [{ set: { field: "last", value: 1 } }] });
  const settings = { default_pipeline: "counted" };
  await send("PUT", "/_template/counted", { index_patterns: ["counted-*"], settings });
  await send("PUT", "/counted-1/_doc/1", { a: 1 });
  const sourceOf = async (id: string): Promise<unknown> =>
    (await send("GET", `/counted-1/_doc/${id}`)).body["_source"];
  const update = (id: string, body: object) => send("POST", `/counted-1/_doc/${id}/_update`, body);
  assert.equal((await update("1", { doc: { b: 2.0 } })).body["result"], "updated");
  assert.deepEqual(await sourceOf("1"), { a: 1, b: 2, n: 2 });
  assert.equal((await update("1", { doc: { b: 2 } })).body["result"], "noop");
  assert.equal((await update("1", { doc: { b: 2 }, detect_noop: false })).body["result"], "updated");
  assert.deepEqual(await sourceOf("1"), { a: 1, b: 2, n: 3 });
  assert.equal((await update("2", { doc: { b: 1 }, doc_as_upsert: true })).status, 201);
  assert.deepEqual(await sourceOf("2"), { b: 1, n: 1 });
  assert.equal((await update("3", { doc: { b: 1 } })).status, 404);
  await send("PUT", "/counted-1/_settings", { index: { final_pipeline: "at-last" } });
  const lines = [
    { update: { _id: "2" } },
    { script: { source: "ctx._source.b = 5" } },
    { update: { _id: "4" } },
    { script: { source: "ctx._source.b = 5" }, upsert: { b: 1 } },
    { update: { _id: "5" } },
    { script: { source: "ctx._source.n += 5" }, upsert: { b: 1 }, scripted_upsert: true },
    { update: { _id: "6" } },
    { script: { source: "ctx.op = 'none'" }, upsert: { b: 1 }, scripted_upsert: true },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const type = { "content-type": "application/x-ndjson" };
  assert.equal((await send("POST", "/counted-1/_bulk", body, type)).body["errors"], false);
  // A bulk sends new documents alone, before their scripts.
  assert.deepEqual(
    [await sourceOf("2"), await sourceOf("4"), await sourceOf("5"), await sourceOf("6")],
    [{ b: 5, n: 1 }, { b: 1, n: 1, last: 1 }, { b: 1, n: 6, last: 1 }, undefined],
  );
});

test("an update reads the index that an alias writes to, and keeps the routing", async () => {
  const settings = { default_pipeline: "counted" };
  await send("PUT", "/turn-1", { aliases: { turn: {} }, settings });
  await send("PUT", "/turn-2", { aliases: { turn: { is_write_index: true } }, settings });
  await send("PUT", "/turn/_doc/1?routing=r", { a: 1 });
  const answer = await send("POST", "/turn/_doc/1/_update", { doc: { b: 2 } });
  assert.deepEqual([answer.status, answer.body["_index"]], [200, "turn-2"], answer.text);
  const got = await send("GET", "/turn-2/_doc/1?routing=r");
  assert.deepEqual([got.body["_routing"], got.body["_source"]], ["r", { a: 1, b: 2, n: 2 }]);
});

test("_explain needs the routing that the mapping requires", async () => {
  const mappings = { _doc: { _routing: { required: true } } };
  assert.equal((await send("PUT", "/routed", { mappings })).status, 200);
  await send("PUT", "/routed/_doc/1?routing=a&refresh", {});
  const query = { query: { match_all: {} } };
  const { status, body } = await send("POST", "/routed/_doc/1/_explain", query);
  assert.deepEqual([status, body["error"]!["type"]], [400, "routing_missing_exception"]);
  // The parts here have no search.
  assert.equal((await send("POST", "/routed/_doc/1/_explain?routing=a", query)).status, 404);
});
