import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { WriteOptions } from "#hub/cluster/writes/writes.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { FairTurns } from "#proto/kit/fair-turns.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";
import { replaceMethod } from "#test/support/kit/replaced-method.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const bulk = (path: string, lines: string) =>
  send("POST", path, lines, { "content-type": "application/x-ndjson" });

before(() => hub.start());
after(() => hub.stop());

test("a document is made, read, changed and deleted with the bodies of 6.5", async () => {
  const made = await send("PUT", "/life/_doc/a%2Fb", '{"n": 1.0,\n"long": 12345678901234567890}');
  assert.equal(made.status, 201);
  assert.equal(made.headers.location, "/life/_doc/a%2Fb");
  assert.equal(
    made.text,
    '{"_index":"life","_type":"_doc","_id":"a/b","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1}',
  );
  const read = await send("GET", "/life/_doc/a%2Fb");
  assert.equal(
    read.text,
    '{"_index":"life","_type":"_doc","_id":"a/b","_version":1,"found":true,"_source":{"n": 1.0,\n"long": 12345678901234567890}}',
  );
  assert.equal(
    (await send("GET", "/life/_doc/a%2Fb/_source")).text,
    '{"n": 1.0,\n"long": 12345678901234567890}',
  );
  assert.deepEqual((await send("GET", "/life/_doc/a%2Fb?_source=n")).body["_source"], { n: 1 });
  assert.equal((await send("HEAD", "/life/_doc/a%2Fb")).status, 200);
  const gone = await send("DELETE", "/life/_doc/a%2Fb?refresh");
  assert.equal(gone.body["result"], "deleted");
  assert.equal(gone.body["forced_refresh"], true);
  assert.equal(hub.documents.lastOptions?.refresh, "true");
  const again = await send("DELETE", "/life/_doc/a%2Fb");
  assert.deepEqual([again.status, again.body["result"]], [404, "not_found"]);
  const missing = await send("GET", "/life/_doc/a%2Fb");
  assert.deepEqual(
    [missing.status, missing.body],
    [404, { _index: "life", _type: "_doc", _id: "a/b", found: false }],
  );
  assert.equal((await send("GET", "/life/_doc/a%2Fb/_source")).status, 404);
});

test("a taken id is a conflict for _create", async () => {
  await send("PUT", "/taken/_doc/1", { a: 1 });
  for (const path of ["/taken/_doc/1/_create", "/taken/_create/1", "/taken/_doc/1?op_type=create"]) {
    const { status, body } = await send("PUT", path, { a: 2 });
    assert.equal(status, 409, path);
    assert.equal(body["error"]!["type"], "version_conflict_engine_exception");
    assert.equal(body["error"]!["index"], "taken");
  }
});

test("an update takes [doc], or the bare fields", async () => {
  await send("PUT", "/bare/_doc/1", { a: 1, b: 1 });
  assert.equal((await send("POST", "/bare/_doc/1/_update", { doc: { a: 2 } })).body["result"], "updated");
  assert.equal((await send("POST", "/bare/_doc/1/_update", { b: 2, c: 3 })).status, 200);
  assert.deepEqual((await send("GET", "/bare/_doc/1")).body["_source"], { a: 2, b: 2, c: 3 });
  const shown = await send("POST", "/bare/_update/1?_source=a", { doc: { a: 5 } });
  assert.deepEqual(shown.body["get"], { found: true, _source: { a: 5 } });
  const rows: readonly (readonly [object, number, RegExp])[] = [
    [{}, 400, /script or doc is missing/],
    [{ doc_as_upsert: true }, 400, /doc must be specified if doc_as_upsert is enabled/],
    [{ script: "x", doc: {} }, 400, /can't provide both script and doc/],
  ];
  for (const [body, status, text] of rows) {
    const answer = await send("POST", "/bare/_doc/1/_update", body);
    assert.equal(answer.status, status);
    assert.match(answer.text, text);
  }
  assert.equal((await send("POST", "/bare/_doc/none/_update", { doc: {} })).status, 404);
});

test("numbers of shards and replicas beside a document are the index's, other settings are data", async () => {
  const created = await send("PUT", "/sized/_doc/1", {
    title: "x",
    settings: { index: { number_of_shards: 2 }, "index.number_of_replicas": 0 },
  });
  assert.equal(created.status, 201);
  assert.deepEqual((await send("GET", "/sized/_doc/1")).body["_source"], { title: "x" });
  const { settings } = hub.catalog.get("sized")!;
  assert.deepEqual([settings.numberOfShards, settings.numberOfReplicas], [2, 0]);
  assert.equal(
    (await send("POST", "/sized/_doc/1/_update", { title: "y", settings: { number_of_replicas: 3 } })).status,
    200,
  );
  assert.equal(hub.catalog.get("sized")!.settings.numberOfReplicas, 3);
  assert.deepEqual((await send("GET", "/sized/_doc/1")).body["_source"], { title: "y" });
  const other = await send("PUT", "/sized/_doc/1", { settings: { number_of_shards: 9 } });
  assert.equal(other.status, 400);
  assert.match(other.text, /Can't update non dynamic settings \[\[index.number_of_shards\]\]/);
  await send("PUT", "/sized/_doc/2", { settings: { volume: 11 } });
  assert.deepEqual((await send("GET", "/sized/_doc/2")).body["_source"], { settings: { volume: 11 } });
});

test("a bulk writes every kind, with bare keys, carriage returns and blank lines", async () => {
  const lines = [
    "{index: {_id: 1}}",
    '{"a": 1}\r',
    "",
    '{"create":{"_id":"2","_index":"other"}}',
    '{"a": 2}',
    '{"update":{"_id":"1"}}',
    '{"doc":{"b":1}}',
    '{"update":{"_id":"1","_source":true}}',
    '{"doc":{"c":1}}',
    '{"delete":{"_id":"none"}}',
  ];
  const { status, body } = await bulk("/many/_doc/_bulk", `${lines.join("\n")}\n`);
  assert.equal(status, 200);
  assert.equal(body["errors"], false);
  const items = Array.from(
    body["items"] as unknown as ArrayLike<object>,
    (item) => Object.entries(item)[0] as [string, { _index: string; _id: string; status: number }],
  );
  assert.deepEqual(
    items.map(([kind, item]) => [kind, item._index, item._id, item.status]),
    [
      ["index", "many", "1", 201],
      ["create", "other", "2", 201],
      ["update", "many", "1", 200],
      ["update", "many", "1", 200],
      ["delete", "many", "none", 404],
    ],
  );
  assert.deepEqual(body["items"]![3]!["update"]!["get"]!["_source"], { a: 1, b: 1, c: 1 });
});

test("a bulk whose body shares memory with other small buffers is answered", async () => {
  const source = encodeURIComponent('{"index":{"_index":"small"}}\n{"n":1}\n');
  const { status, body } = await send("POST", `/_bulk?source=${source}&source_content_type=application/json`);
  assert.deepEqual([status, body["items"]?.[0]?.["index"]?.["status"]], [200, 201]);
});

test("an item that fails leaves the others alone", async () => {
  const { body } = await bulk(
    "/_bulk",
    '{"index":{"_index":"Upper","_id":"1"}}\n{}\n{"index":{"_index":"fine","_id":"1"}}\n{"a":1}\n{"update":{"_index":"fine","_id":"x"}}\n{"doc":{}}\n{"index":{"_index":"fine","_id":""}}\n{}\n',
  );
  assert.equal(body["errors"], true);
  const [bad, good, missing, unnamed] = Array.from(body["items"] as unknown as ArrayLike<typeof body>);
  assert.deepEqual(
    [bad!["index"]!["status"], bad!["index"]!["error"]!["type"]],
    [400, "invalid_index_name_exception"],
  );
  assert.equal(good!["index"]!["status"], 201);
  assert.deepEqual(
    [missing!["update"]!["status"], missing!["update"]!["error"]!["reason"]],
    [404, "[_doc][x]: document missing"],
  );
  assert.equal(unnamed!["index"]!["status"], 400);
});

const MALFORMED: readonly (readonly [string, RegExp])[] = [
  ["", /request body is required/],
  ["\n", /Validation Failed: 1: no requests added;/],
  ['{"index":{}}\n{"a":1}', /must be terminated by a newline/],
  ['{"index":{}}\n{"a":1}\n', /Validation Failed: 1: index is missing;/],
  ['{"index":{"_index":"x"}}\n', /no requests added/],
  [
    '"index"\n{}\n',
    /Malformed action\/metadata line \[1\], expected START_OBJECT but found \[VALUE_STRING\]/,
  ],
  [
    '{"index":{"_index":"x","_id":[1]}}\n{}\n',
    /line \[1\], expected a simple value for field \[_id\] but found \[START_ARRAY\]/,
  ],
  [
    '{"index":{"_index":"x"}}\n{}\n{"index":{"_foo":1}}\n{}\n',
    /Action\/metadata line \[3\] contains an unknown parameter \[_foo\]/,
  ],
  ["{}\n{}\n", /line \[1\], expected FIELD_NAME but found \[END_OBJECT\]/],
  ['{"put":{"_index":"x"}}\n{}\n', /but found \[put\]/],
  ['{"index":{"_index":"x"}\n{}\n', /it isn't JSON/],
];

test("where a later part of a bulk can't be written, its items fail and those before are in", async (t) => {
  const written: number[] = [];
  const append = hub.documents.append.bind(hub.documents);
  t.mock.method(hub.documents, "append", (...[run, options]: Parameters<typeof append>) => {
    written.push(run.ends.length);
    const lost = new AppError("unavailable", "the thread was lost");
    return written.length === 2 ? Promise.reject(lost) : append(run, options);
  });
  const { status, body } = await bulk("/parts/_bulk", '{"index":{}}\n{}\n'.repeat(60_000));
  const items = body["items"] as unknown as readonly { readonly index: { readonly status: number } }[];
  assert.deepEqual([status, body["errors"], written], [200, true, [25_000, 25_000]]);
  const statuses = items.map(({ index }) => index.status);
  assert.deepEqual(
    statuses,
    Array.from({ length: 60_000 }, (_, at) => (at < 25_000 ? 201 : 503)),
  );
  t.mock.method(hub.documents, "append", () => Promise.reject(new AppError("unavailable", "lost")));
  assert.equal((await bulk("/parts/_bulk", '{"index":{}}\n{}\n')).status, 503);
});

test("a bulk whose writes stand still is answered within its time, and what it has none left for isn't tried", async (t) => {
  await send("PUT", "/still/_doc/1", { n: 1 });
  let [nowMs, stillMs, tried] = [1_000_000, 40_000, [] as number[]];
  replaceMethod(t, performance, "now", () => nowMs);
  const write = (items: readonly WriteItem[], { timeoutMs }: WriteOptions) => {
    tried.push(timeoutMs);
    nowMs += Math.min(timeoutMs, stillMs);
    return Promise.resolve(
      items.map(({ index, id }) => ({ index, id, error: new AppError("timeout", "late") })),
    );
  };
  t.mock.method(hub.documents, "write", write);
  const script = '{"update":{"_id":"1"}}\n{"script":"ctx._source.n += 1"}\n';
  const lines = `{"index":{"_id":"2"}}\n{}\n${script}{"index":{"_id":"3"}}\n{}\n${script}`;
  const { status, body } = await bulk("/still/_bulk", lines);
  assert.deepEqual([status, body["errors"], tried], [200, true, [60_000, 20_000]]);
  const items = body["items"] as unknown as readonly Record<string, { readonly status: number }>[];
  assert.deepEqual(
    items.map((item) => Object.values(item)[0]!.status),
    [504, 504, 504, 504],
  );
  [stillMs, tried] = [60_000, []];
  const large = await bulk("/still/_bulk", '{"index":{}}\n{}\n'.repeat(26_000));
  assert.deepEqual([large.status, tried], [200, [60_000]]);
});

test("a bulk whose lines can't be separated writes nothing", async () => {
  const before = hub.documents.stored.size;
  for (const [lines, text] of MALFORMED) {
    const answer = await bulk("/_bulk", lines);
    assert.equal(answer.status, 400, lines);
    assert.match(answer.text.replaceAll('\\"', '"'), text);
  }
  assert.equal(hub.documents.stored.size, before);
});

test("keys beside the action of a bulk's line are ignored, with a warning from 8.0 on", async () => {
  const line = '{"index":{"_index":"beside"},"attempts":3}\n{"a":1}\n';
  for (const [type, warns] of [
    ["application/x-ndjson", false],
    ["application/vnd.elasticsearch+x-ndjson; compatible-with=8", true],
  ] as const) {
    const { status, headers, body } = await send("POST", "/_bulk", line, { "content-type": type });
    assert.deepEqual([status, body["errors"]], [200, false], type);
    assert.equal(String(headers.warning).includes("contained multiple keys"), warns, type);
  }
});

test("_mget gives each document or its own error", async () => {
  await send("PUT", "/got/_doc/1", { a: 1, b: 2 });
  const { body } = await send("POST", "/got/_mget", {
    docs: [{ _id: "1", _source: ["b"] }, { _id: 2 }, { _index: "nowhere", _id: "1" }],
  });
  assert.deepEqual(body["docs"]![0]!["_source"], { b: 2 });
  assert.equal(body["docs"]![1]!["found"], false);
  assert.equal(body["docs"]![2]!["error"]!["type"], "index_not_found_exception");
  assert.equal((await send("POST", "/got/_doc/_mget", { ids: ["1"] })).body["docs"]!.length, 1);
  assert.match(
    (await send("POST", "/_mget", { docs: [] })).text,
    /Validation Failed: 1: no documents to get;/,
  );
  assert.match(
    (await send("POST", "/_mget", { docs: [{ _id: "1" }] })).text,
    /1: index is missing for doc 0;/,
  );
});

test("an index has one type, which paths name and answers print", async () => {
  assert.equal((await send("PUT", "/typed/line/1", { a: 1 })).body["_type"], "line");
  assert.equal((await send("GET", "/typed/line/1")).body["found"], true);
  assert.equal((await send("GET", "/typed/_doc/1")).body["_type"], "line");
  assert.equal((await send("GET", "/typed/other/1")).body["found"], false);
  const second = await send("PUT", "/typed/other/2", { a: 1 });
  assert.equal(second.status, 400);
  assert.match(second.text, /the final mapping would have more than 1 type: \[line, other\]/);
  assert.equal((await send("PUT", "/typed/_bad/2", { a: 1 })).status, 400);
  assert.equal((await send("GET", "/typed/_settings")).text.includes("type_name"), false);
});

test("from 7 on a document has the type that the request names, and the answer has its sequence number", async () => {
  const seven = { accept: "application/vnd.elasticsearch+json; compatible-with=7" };
  await send("PUT", "/mixed/line/1", { a: 1 });
  const typeOfAnswer = async (method: string, path: string, body?: object): Promise<unknown> =>
    (await send(method, path, body, seven)).body["_type"];
  assert.equal(await typeOfAnswer("GET", "/mixed/_doc/1"), "_doc");
  assert.equal(await typeOfAnswer("GET", "/mixed/line/1"), "line");
  assert.equal(await typeOfAnswer("PUT", "/mixed/_doc/2", { a: 2 }), "_doc");
  assert.equal(await typeOfAnswer("POST", "/mixed/_update/2", { doc: { a: 3 } }), "_doc");
  assert.equal(await typeOfAnswer("DELETE", "/mixed/_doc/2"), "_doc");
  const read = await send("GET", "/mixed/_doc/1", undefined, seven);
  assert.deepEqual([typeof read.body["_seq_no"], read.body["_primary_term"]], ["number", 1]);
  const docs = [{ _index: "mixed", _id: "1", _routing: "x" }];
  assert.match((await send("POST", "/_mget", { docs }, seven)).text, /Unknown parameter \[_routing\]/);
});

test("an update passes over members that it doesn't know, as the 6.5.4 server does", async () => {
  const { text } = await send("POST", "/p/_doc/1/_update", { dac: { a: 1 }, upsert: { a: 2 } });
  assert.match(text, /Validation Failed: 1: script or doc is missing;/);
  await send("PUT", "/p/_doc/known", { a: 1 });
  const known = await send("POST", "/p/_doc/known/_update", { doc: { a: 2 }, more: 1 });
  assert.equal(known.status, 200);
});

test("documents of an index that is blocked can't be changed until it isn't", async () => {
  await send("PUT", "/blocked/_doc/1", { n: 1 });
  await send("POST", "/_aliases", { actions: [{ add: { index: "blocked", alias: "shut" } }] });
  for (const name of ["write", "read_only", "read_only_allow_delete"]) {
    await send("PUT", "/blocked/_settings", { [`index.blocks.${name}`]: true });
    for (const path of ["/blocked/_doc/1", "/shut/_doc"]) {
      const refused = await send("POST", path, { n: 2 });
      assert.equal(refused.status, 403);
      assert.equal(refused.body["error"]!["type"], "cluster_block_exception");
    }
    const lines = `{"index":{"_index":"blocked"}}\n{"n":3}\n{"index":{"_index":"open"}}\n{"n":3}\n`;
    const { body } = await send("POST", "/_bulk", lines, { "content-type": "application/x-ndjson" });
    assert.deepEqual(
      [body["items"]![0]!["index"]!["status"], body["items"]![1]!["index"]!["status"]],
      [403, 201],
    );
    await send("PUT", "/blocked/_settings", { [`index.blocks.${name}`]: null });
  }
  assert.equal((await send("PUT", "/blocked/_doc/1", { n: 4 })).status, 200);
});

test("parameters of writes are checked", async () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["/p/_doc/1?refresh=maybe", /Unknown value for refresh: \[maybe\]/],
    ["/p/_doc/1?version=x", /Failed to parse int parameter \[version\] with value \[x\]/],
    ["/p/_doc/1?version=1&version_type=odd", /No version type match \[odd\]/],
    ["/p/_doc/1?version_type=external", /illegal version value/],
    ["/p/_create/1?version=5", /create operations do not support explicit versions/],
    ["/p/_doc/1?op_type=put", /opType must be 'create' or 'index'/],
    ["/p/_doc/1?pipeline=geo", /pipeline with id \[geo\] does not exist/],
    [`/p/_doc/${"x".repeat(513)}`, /id is too long, must be no longer than 512 bytes but was: 513/],
    ["/p/_doc/%zz", /not percent-encoded/],
  ];
  for (const [path, text] of rows) {
    const answer = await send("PUT", path, { a: 1 });
    assert.equal(answer.status, 400, path);
    assert.match(answer.text, text);
  }
  assert.match((await send("PUT", "/p/_doc/1")).text, /request body is required/);
});

test("words of action lines need no quotes, as keys and as values", async () => {
  const lines =
    "{index: {_index: bare, _id: abc-1}}\n{}\n{create: {_index: bare, _id: 2x, routing: null}}\n{}\n";
  const response = await fetch(`${hub.server.addresses.http}/_bulk`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: lines,
  });
  const { errors, items } = (await response.json()) as {
    errors: boolean;
    items: Record<string, { _id: string }>[];
  };
  assert.equal(errors, false);
  assert.deepEqual(
    items.map((item) => Object.values(item)[0]!._id),
    ["abc-1", "2x"],
  );
});

test("a bulk waits for its turn within its timeout, and writes in what is left of it", async (t) => {
  const waits: (number | undefined)[] = [];
  const take = async (waitMs?: number): Promise<void> => {
    waits.push(waitMs);
    if (waits.length > 1) return;
    const now = systemClock.monotonic();
    t.mock.method(systemClock, "monotonic", () => now + 25_000);
  };
  t.mock.method(FairTurns.prototype, "turn", () => ({ take, leave: () => undefined }));
  const { status } = await bulk("/waits/_doc/_bulk?timeout=40s", '{"index":{"_id":"1"}}\n{"a":1}\n');
  assert.equal(status, 200);
  assert.equal(waits[0], 40_000);
  const leftMs = hub.documents.lastOptions?.timeoutMs ?? 0;
  assert.ok(leftMs <= 15_001 && leftMs > 14_000, `${leftMs} ms are left`);
});

test("a bulk with an item that no request may have is refused as a whole, as the 6.5.4 server does", async () => {
  const rows: readonly (readonly [lines: readonly object[], reason: string])[] = [
    [[{ update: { _id: "1" } }, {}], "Validation Failed: 1: script or doc is missing;"],
    [[{ update: { _id: "1" } }, { foo: 1 }], "Validation Failed: 1: script or doc is missing;"],
    [[{ update: {} }, { doc: {} }], "Validation Failed: 1: id is missing;"],
    [[{ delete: {} }, { delete: {} }], "Validation Failed: 1: id is missing;2: id is missing;"],
  ];
  for (const [lines, reason] of rows) {
    const whole = [{ index: { _id: "first" } }, { a: 1 }, ...lines];
    const body = whole.map((line) => `${JSON.stringify(line)}\n`).join("");
    const { status, body: answer } = await send("POST", "/whole/_doc/_bulk", body);
    assert.equal(status, 400);
    assert.equal(answer["error"]!["type"], "action_request_validation_exception");
    assert.equal(answer["error"]!["reason"], reason);
  }
  assert.equal((await send("GET", "/whole")).status, 404);
});

test("conflicts and missing documents are named with the type of their index", async () => {
  await send("PUT", "/lines/line/1", { a: 1 });
  const create = await send("PUT", "/lines/line/1/_create", { a: 1 });
  const reason = "[line][1]: version conflict, document already exists (current version [1])";
  assert.equal(create.body["error"]!["reason"], reason);
  const missing = await send("POST", "/lines/line/2/_update", { doc: {} });
  assert.equal(missing.body["error"]!["reason"], "[line][2]: document missing");
  const bulk = await send("POST", "/lines/line/_bulk", '{"create":{"_id":"1"}}\n{"a":1}\n');
  assert.equal(
    (bulk.body["items"] as unknown as Record<string, { error: { reason: string } }>[])[0]!["create"]!.error
      .reason,
    reason,
  );
});
