import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf, type Json } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(() => hub.start());
after(() => hub.stop());

test("an index is made with settings in every form, with and without a type, and shown as 6.5 shows it", async () => {
  const rows: readonly (readonly [string, object])[] = [
    ["nested", { settings: { index: { number_of_shards: 2, refresh_interval: "5s" } } }],
    ["dotted", { settings: { "index.number_of_shards": "2", refresh_interval: "5s" } }],
    ["plain", { settings: { number_of_shards: 2, "index.refresh_interval": "5s" } }],
  ];
  for (const [name, body] of rows) {
    assert.deepEqual((await send("PUT", `/${name}`, body)).body, {
      acknowledged: true,
      shards_acknowledged: true,
      index: name,
    });
    const { index } = (await send("GET", `/${name}/_settings`)).body[name]!["settings"] as unknown as Record<
      string,
      Record<string, unknown>
    >;
    assert.deepEqual(
      [index!["number_of_shards"], index!["number_of_replicas"], index!["refresh_interval"]],
      ["2", "1", "5s"],
    );
    assert.deepEqual(index!["version"], { created: "6050499" });
  }
  await send("PUT", "/typed", {
    mappings: { line: { properties: { a: { type: "keyword" } } } },
    aliases: { t: {} },
  });
  const shown = (await send("GET", "/typed")).body["typed"]!;
  assert.deepEqual(shown["mappings"], { line: { properties: { a: { type: "keyword" } } } });
  assert.deepEqual(shown["aliases"], { t: {} });
  assert.deepEqual((await send("GET", "/typed?include_type_name=false")).body["typed"]!["mappings"], {
    properties: { a: { type: "keyword" } },
  });
  const human = (await send("GET", "/typed?human")).body["typed"]!["settings"]!["index"]!;
  assert.equal(human["version"]!["created_string"], "6.5.4");
  assert.equal((await send("GET", "/typed/_nothing")).status, 405);
});

test("a mapping is extended with and without a type, and shown whole, by type and by field", async () => {
  const text = { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } };
  await send("PUT", "/mapped");
  assert.deepEqual((await send("GET", "/mapped/_mapping")).body, { mapped: { mappings: {} } });
  for (const [path, body] of [
    ["/mapped/_mapping", { properties: { a: text } }],
    ["/mapped/_mapping/_doc", { _doc: { properties: { b: { type: "long" } } } }],
    ["/mapped/_doc/_mapping", { properties: { c: { properties: { d: { type: "geo_point" } } } } }],
  ] as const)
    assert.deepEqual((await send("PUT", path, body)).body, { acknowledged: true });
  const properties = { a: text, b: { type: "long" }, c: { properties: { d: { type: "geo_point" } } } };
  for (const path of ["/mapped/_mapping/_doc", "/mapped/_mappings", "/_mapping/_doc"])
    assert.deepEqual((await send("GET", path)).body["mapped"], { mappings: { _doc: { properties } } });
  assert.deepEqual(
    (await send("GET", "/mapped/_mapping/field/c.*,a.keyword")).body["mapped"]!["mappings"]!["_doc"],
    {
      "a.keyword": { full_name: "a.keyword", mapping: { keyword: { type: "keyword", ignore_above: 256 } } },
      "c.d": { full_name: "c.d", mapping: { d: { type: "geo_point" } } },
    },
  );
  const none = await send("GET", "/mapped/_mapping/field/none");
  assert.deepEqual([none.status, none.body], [404, {}]);
  const missing = await send("GET", "/mapped/_mapping/other");
  assert.equal(missing.status, 404);
  assert.match(JSON.stringify(missing.body), /"type_missing_exception","reason":"type\[\[other\]\] missing"/);
  const typed = await send("GET", "/mapped/_mapping/_doc/field/none");
  assert.deepEqual([typed.status, typed.body], [200, {}]);
  assert.equal((await send("HEAD", "/mapped/_mapping/_doc")).status, 200);
  assert.equal((await send("HEAD", "/mapped/_mapping/other")).status, 404);
});

test("settings change, are taken back, and can be shown flat and by name", async () => {
  await send("PUT", "/set");
  await send("PUT", "/set/_settings", { index: { refresh_interval: "7s", number_of_replicas: 0 } });
  const flat = await send("GET", "/set/_settings/index.refresh*?flat_settings&include_defaults=false");
  assert.deepEqual(flat.body, { set: { settings: { "index.refresh_interval": "7s" } } });
  await send("PUT", "/set/_settings?preserve_existing=true", { refresh_interval: "9s" });
  assert.equal(hub.catalog.get("set")!.settings.raw["refresh_interval"], "7s");
  await send("PUT", "/set/_settings", { refresh_interval: null });
  assert.equal("refresh_interval" in hub.catalog.get("set")!.settings.raw, false);
});

test("from 7 on a closed index is named, counts for the health, and a field that isn't there is empty", async () => {
  const seven = { accept: "application/vnd.elasticsearch+json; compatible-with=7" };
  await send("PUT", "/shut", { settings: { number_of_shards: 1, number_of_replicas: 1 } });
  const field = await send("GET", "/shut/_mapping/field/none", undefined, seven);
  assert.deepEqual([field.status, field.body], [200, { shut: { mappings: {} } }]);
  assert.deepEqual((await send("POST", "/shut/_close", undefined, seven)).body, {
    acknowledged: true,
    shards_acknowledged: true,
    indices: { shut: { closed: true } },
  });
  assert.equal((await send("GET", "/_cluster/health/sh*", undefined, seven)).body["status"], "yellow");
  assert.equal((await send("GET", "/_cluster/health/sh*")).body["status"], "green");
  await send("DELETE", "/shut");
});

test("aliases are given, shown, missed and taken", async () => {
  await send("PUT", "/al-1");
  await send("PUT", "/al-2");
  const filter = { term: { a: 1 } };
  const actions = [
    { add: { index: "al-*", alias: "both", routing: 1 } },
    { add: { indices: ["al-1"], aliases: ["one"], filter } },
  ];
  assert.deepEqual((await send("POST", "/_aliases", { actions })).body, { acknowledged: true });
  const routed = { index_routing: "1", search_routing: "1" };
  assert.deepEqual((await send("GET", "/al-*/_alias")).body, {
    "al-1": { aliases: { both: routed, one: { filter } } },
    "al-2": { aliases: { both: routed } },
  });
  assert.deepEqual((await send("GET", "/_alias/one")).body, { "al-1": { aliases: { one: { filter } } } });
  const missing = await send("GET", "/_alias/one,none");
  assert.equal(missing.status, 404);
  assert.deepEqual(missing.body, {
    error: "alias [none] missing",
    status: 404,
    "al-1": { aliases: { one: { filter } } },
  });
  assert.equal((await send("HEAD", "/al-2/_alias/one")).status, 404);
  assert.equal((await send("GET", "/_alias/one,both,-on*")).status, 200);
  const before = await send("GET", "/_alias/-one,bo*,-other");
  assert.deepEqual([before.status, before.body["error"]], [404, "alias [-one] missing"]);
  assert.equal((await send("GET", "/_alias/one,both,-on*,-both")).status, 200);
  assert.equal((await send("PUT", "/al-2/_aliases", { alias: "two" })).status, 200);
  assert.equal((await send("HEAD", "/al-2/_alias/two")).status, 200);
  assert.equal((await send("DELETE", "/al-*/_alias/both,two")).status, 200);
  assert.deepEqual((await send("GET", "/al-2/_alias")).body, { "al-2": { aliases: {} } });
  const takeAway = (options: object): Promise<{ status: number; text: string }> =>
    send("POST", "/_aliases", { actions: [{ remove: { index: "al-1", ...options } }] });
  const strict = await takeAway({ aliases: ["one", "none"], must_exist: true });
  assert.equal(strict.status, 404);
  assert.match(strict.text, /aliases \[none\] missing/);
  assert.equal((await takeAway({ alias: "none" })).status, 404);
  assert.equal((await takeAway({ alias: "none", must_exist: false })).status, 200);
  const moved = [
    { remove: { index: "al-*", alias: "none" } },
    { add: { index: "al-1", alias: "newest" } },
    { remove: { index: "al-1", alias: "newest-of-all" } },
  ];
  assert.equal((await send("POST", "/_aliases", { actions: moved })).status, 200);
  assert.equal((await send("GET", "/al-1/_alias/newest")).status, 200);
  const absent = await send("POST", "/_aliases", { actions: [moved[0], moved[2]] });
  assert.equal(absent.status, 404);
  assert.match(absent.text, /aliases \[none,newest-of-all\] missing/);
  const replaced = [{ add: { index: "al-1", alias: "al-2" } }, { remove_index: { index: "al-2" } }];
  assert.equal((await send("POST", "/_aliases", { actions: replaced })).status, 200);
  assert.deepEqual(Object.keys((await send("GET", "/al-2")).body), ["al-1"]);
  assert.match((await send("GET", "/_cat/aliases/one")).text, /^one al-1 \* - -\n$/);
});

test("tokens of an answer are as many as the index allows", async () => {
  await send("PUT", "/few", { settings: { "index.analyze.max_token_count": 3 } });
  const body = { text: "a b c", analyzer: "standard" };
  assert.equal((await send("POST", "/few/_analyze", body)).status, 200);
  const refused = await send("POST", "/few/_analyze", { ...body, text: "a b c d" });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(refused.body), /allowed maximum of \[3\].*index\.analyze\.max_token_count/);
  await send("DELETE", "/few");
});

test("deleting reaches no index through its aliases", async () => {
  await send("PUT", "/kept", { aliases: { "gone-alias": {} } });
  await send("PUT", "/gone-1");
  assert.equal((await send("DELETE", "/gone-alias")).status, 400);
  assert.equal((await send("DELETE", "/gone-alias?ignore_unavailable=true")).status, 200);
  assert.equal((await send("DELETE", "/gone-1,gone-a*?allow_no_indices=false")).status, 404);
  assert.equal((await send("HEAD", "/gone-1")).status, 200);
  assert.equal((await send("DELETE", "/gone-*")).status, 200);
  assert.equal((await send("HEAD", "/gone-1")).status, 404);
  assert.equal((await send("HEAD", "/kept")).status, 200);
  await send("DELETE", "/kept");
});

test("a template is stored, shown and applied to the names it fits", async () => {
  const body = {
    template: "tp-*",
    order: 3,
    version: 5,
    settings: { number_of_shards: 1 },
    mappings: { line: { properties: { a: { type: "ip" } } } },
    aliases: { tps: {} },
  };
  assert.deepEqual((await send("PUT", "/_template/tp", body)).body, { acknowledged: true });
  assert.deepEqual((await send("GET", "/_template/t*")).body, {
    tp: {
      order: 3,
      version: 5,
      index_patterns: ["tp-*"],
      settings: { index: { number_of_shards: "1" } },
      mappings: { line: { properties: { a: { type: "ip" } } } },
      aliases: { tps: {} },
    },
  });
  assert.equal((await send("HEAD", "/_template/tp")).status, 200);
  assert.equal((await send("PUT", "/_template/tp?create=true", body)).status, 400);
  await send("PUT", "/tp-1/line/1", { a: "127.0.0.1" });
  assert.deepEqual((await send("GET", "/tp-1/_mapping")).body["tp-1"]!["mappings"], {
    line: { properties: { a: { type: "ip" } } },
  });
  assert.equal((await send("DELETE", "/_template/tp")).status, 200);
  const none = await send("GET", "/_template/tp");
  assert.deepEqual([none.status, none.body], [404, {}]);
});

test("_analyze shows tokens of texts, with each step where it is asked for", async () => {
  const body = { tokenizer: "standard", filter: ["lowercase"], text: ["One two", "Three"], explain: true };
  const { body: shown } = await send("GET", "/_analyze", body);
  const detail = shown["detail"]!;
  const texts = (tokens: Json): unknown[] =>
    Array.from(tokens as unknown as ArrayLike<Json>, ({ token, position }) => [token, position]);
  assert.deepEqual(texts(detail["tokenizer"]!["tokens"]!), [
    ["One", 0],
    ["two", 1],
    ["Three", 102],
  ]);
  assert.deepEqual(texts(detail["tokenfilters"]![0]!["tokens"]!), [
    ["one", 0],
    ["two", 1],
    ["three", 102],
  ]);
  await send("PUT", "/an", {
    settings: { analysis: { analyzer: { mine: { tokenizer: "whitespace", filter: ["lowercase"] } } } },
    mappings: { properties: { f: { type: "text", analyzer: "mine" }, n: { type: "long" } } },
  });
  const field = await send("POST", "/an/_analyze", { field: "f", text: "A-b C" });
  assert.deepEqual(texts(field.body["tokens"]!), [
    ["a-b", 0],
    ["c", 1],
  ]);
  assert.equal((await send("POST", "/an/_analyze", { field: "n", text: "1" })).status, 400);
  assert.deepEqual((await send("GET", "/_analyze?analyzer=standard&text=")).body, { tokens: [] });
});

test("a synced flush answers with the shards of each index", async () => {
  await send("PUT", "/synced", { settings: { number_of_shards: 2, number_of_replicas: 0 } });
  const shards = { total: 2, successful: 2, failed: 0 };
  assert.deepEqual((await send("POST", "/synced/_flush/synced")).body, { _shards: shards, synced: shards });
  assert.deepEqual((await send("POST", "/synced/_flush")).body, { _shards: shards });
});

test("names of indices that are commas alone delete and close none", async () => {
  for (const [method, path] of [
    ["DELETE", "/%2C"],
    ["DELETE", "/,,"],
    ["DELETE", "/?index=nested"],
    ["POST", "/%2C/_close"],
  ] as const)
    assert.equal((await send(method, path)).status, 400, `${method} ${path}`);
  assert.equal((await send("GET", "/_cat/indices/nested?h=index,status")).text, "nested open\n");
});

test("tables choose, sort and print their columns", async () => {
  const json = await send(
    "GET",
    "/_cat/indices/nested,dotted?format=json&h=index,dc,store.size&s=index:desc",
  );
  assert.deepEqual(json.body, [
    { index: "nested", dc: "3", "store.size": "1.5kb" },
    { index: "dotted", dc: "3", "store.size": "1.5kb" },
  ]);
  assert.equal(
    (await send("GET", "/_cat/indices/nested?v&h=index,ss&bytes=b")).text,
    "index    ss\nnested 1536\n",
  );
  // Each part of a pattern counts, and other names of a column.
  assert.equal((await send("GET", "/_cat/indices/nested?v&h=*o*s.c*t")).text, "docs.count\n         3\n");
  assert.equal((await send("GET", "/_cat/indices/nested?h=d*x*c")).text, "\n");
  assert.equal((await send("GET", "/_cat/indices/nested?v&h=docsC*")).text, "docs.count\n         3\n");
  assert.match((await send("GET", "/_cat/health?help")).text, /^epoch +\| t,time +\| seconds since/);
  assert.match((await send("GET", "/_cat")).text, /^=\^\.\^=\n\/_cat\/aliases\n/);
  assert.equal((await send("GET", "/_cat/indices?s=nothing")).status, 500);
  assert.equal((await send("GET", "/_cat/indices?index=nested&h=index")).text, "nested\n");
  assert.equal((await send("GET", "/_cat/indices?index=")).status, 200);
  assert.equal((await send("GET", "/_cat/indices/nested?index=dotted")).status, 400, "it is named twice");
  const counted = await send(
    "GET",
    "/_cat/indices/nested?format=json&h=sc,pri.segments.count,fielddata.memory_size,tm,suggest.total,pri.merges.total_time",
  );
  assert.deepEqual(counted.body, [
    {
      sc: "1",
      "pri.segments.count": "1",
      "fielddata.memory_size": "24b",
      tm: "24b",
      "suggest.total": "0",
      "pri.merges.total_time": "0s",
    },
  ]);
  const help = (await send("GET", "/_cat/indices?help")).text!.split("\n").map((line) => line.split(" ")[0]);
  assert.deepEqual(
    help.filter((name) => name !== "" && !help.includes(`pri.${name}`) && !name!.startsWith("pri.")),
    "health status index uuid pri rep docs.count docs.deleted creation.date creation.date.string".split(" "),
  );
  const [node] = (await send("GET", "/_cat/nodes?format=json&h=version,uptime,search.query_total"))
    .body as unknown as {
    version: string;
    uptime: string;
    "search.query_total": string;
  }[];
  assert.match(`${node!.version} ${node!.uptime} ${node!["search.query_total"]}`, /^6\.5\.4 [\d.]+\w+ \d+$/);
});

test("an index whose settings have a filter by its old name is made with a warning", async () => {
  const filter = { mine: { type: "delimited_payload_filter" } };
  const { status, headers } = await send("PUT", "/payloads", { settings: { analysis: { filter } } });
  assert.equal(status, 200);
  assert.match(String(headers["warning"]), /\[delimited_payload_filter\] used, replaced by/);
});

test("a setting without effect is accepted with a warning", async () => {
  const sorted = await send("PUT", "/unused", {
    settings: { "index.sort.field": "n", "index.sort.order": "desc", number_of_shards: 1 },
    mappings: { properties: { n: { type: "long" } } },
  });
  assert.equal(sorted.status, 200);
  assert.match(
    String(sorted.headers["warning"]),
    /^299 .* "\[index.sort.field\], \[index.sort.order\] is accepted and does nothing: /,
  );
  const later = await send("PUT", "/unused/_settings", {
    index: { lifecycle: { parse_origination_date: true } },
  });
  assert.match(String(later.headers["warning"]), /index.lifecycle.parse_origination_date/);
  const template = {
    index_patterns: "unused-*",
    template: { settings: { "plugins.index_state_management.policy_id": "hot" } },
  };
  assert.match(
    String((await send("PUT", "/_index_template/unused", template)).headers["warning"]),
    /policy_id.*index.lifecycle.name/,
  );
  const plain = await send("PUT", "/used", { settings: { number_of_shards: 1, refresh_interval: "5s" } });
  assert.equal(plain.headers["warning"], undefined);
});

test("a block makes an index refuse writes until it is taken away", async () => {
  await send("PUT", "/blocked");
  assert.deepEqual((await send("PUT", "/blocked/_block/write")).body, {
    acknowledged: true,
    shards_acknowledged: true,
    indices: [{ name: "blocked", blocked: true }],
  });
  assert.equal((await send("POST", "/blocked/_doc", { a: 1 })).status, 403);
  assert.equal((await send("PUT", "/blocked/_settings", { "blocks.write": false })).status, 200);
  assert.equal((await send("POST", "/blocked/_doc", { a: 1 })).status, 201);
  assert.equal((await send("PUT", "/blocked/_block/everything")).status, 400);
});

test("a merge that only removes deleted documents leaves the other segments as they are", async (t) => {
  await send("PUT", "/expunged");
  const { mock } = t.mock.method(ShardsClient.prototype, "forceMerge");
  for (const query of ["", "?max_num_segments=3", "?only_expunge_deletes=true"])
    assert.equal((await send("POST", `/expunged/_forcemerge${query}`)).status, 200);
  const most = mock.calls.map(({ arguments: [, maxSegments] }) => maxSegments);
  assert.deepEqual(most, [1, 3, Number.MAX_SAFE_INTEGER]);
});

test("a merge that the client doesn't wait for is a task", async () => {
  await send("PUT", "/merged");
  const { body } = await send("POST", "/merged/_forcemerge?max_num_segments=1&wait_for_completion=false");
  const shown = await send("GET", `/_tasks/${body["task"] as unknown as string}?wait_for_completion=true`);
  const { task, response } = shown.body as unknown as { task: JsonObject; response: JsonObject };
  assert.equal(task["action"], "indices:admin/forcemerge");
  assert.match(String(task["description"]), /^Force-merge indices \[merged\], maxSegments\[1\]/);
  assert.equal((response["_shards"] as JsonObject)["failed"], 0);
});
