import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(() => hub.start());
after(() => hub.stop());

test("a template of components is stored, shown, used and deleted as clients of 7.8 do it", async () => {
  const part = {
    settings: { "index.number_of_replicas": 0 },
    mappings: { properties: { a: { type: "keyword" } } },
  };
  const needed = { index_patterns: ["c-*"], composed_of: ["part"] };
  const missing = await send("PUT", "/_index_template/t", needed);
  assert.equal(missing.status, 400);
  assert.match(missing.text, /specifies component templates \[part\] that do not exist/);
  const put = await send("PUT", "/_component_template/part", {
    template: part,
    version: 3,
    _meta: { by: "us" },
  });
  assert.deepEqual(put.body, { acknowledged: true });
  const again = await send("PUT", "/_component_template/part?create", { template: {} });
  assert.match(again.text, /component template \[part\] already exists/);
  const template = {
    ...needed,
    priority: 7,
    template: { settings: { number_of_shards: 1 }, aliases: { all: { routing: "r" } } },
  };
  assert.deepEqual((await send("PUT", "/_index_template/t", template)).body, { acknowledged: true });
  assert.deepEqual((await send("GET", "/_index_template/t")).body["index_templates"], [
    {
      name: "t",
      index_template: {
        index_patterns: ["c-*"],
        template: {
          settings: { index: { number_of_shards: "1" } },
          aliases: { all: { index_routing: "r", search_routing: "r" } },
        },
        composed_of: ["part"],
        priority: 7,
      },
    },
  ]);
  assert.deepEqual((await send("GET", "/_component_template/p*?flat_settings")).body["component_templates"], [
    {
      name: "part",
      component_template: {
        template: { settings: { "index.number_of_replicas": "0" }, mappings: part.mappings },
        version: 3,
        _meta: { by: "us" },
      },
    },
  ]);
  await send("PUT", "/c-1");
  const made = (await send("GET", "/c-1?include_type_name=false")).body["c-1"]!;
  assert.deepEqual(made["mappings"], part.mappings);
  assert.equal(made["settings"]!["index"]!["number_of_replicas"], "0");
  assert.match(
    (await send("DELETE", "/_component_template/part")).text,
    /still in use by index templates \[t\]/,
  );
  assert.equal((await send("DELETE", "/_index_template/t")).status, 200);
  assert.equal((await send("DELETE", "/_component_template/part")).status, 200);
});

test("what isn't there is missing as clients expect it", async () => {
  for (const [method, path, status, pattern] of [
    ["GET", "/_index_template/none", 404, /index template matching \[none\] not found/],
    ["GET", "/_index_template/none*", 200, /"index_templates":\[\]/],
    ["HEAD", "/_index_template/none", 404, /^$/],
    ["DELETE", "/_index_template/none", 404, /index_template_missing_exception/],
    ["GET", "/_component_template/none", 404, /component template matching \[none\] not found/],
    ["HEAD", "/_component_template/none", 404, /^$/],
    ["DELETE", "/_component_template/none", 404, /missing/],
    ["GET", "/_data_stream/none", 404, /index_not_found_exception/],
    ["GET", "/_data_stream", 200, /"data_streams":\[\]/],
    ["DELETE", "/_data_stream/none", 404, /no such index/],
    ["PUT", "/_data_stream/none", 400, /no matching index template found for data stream \[none\]/],
  ] as const) {
    const reply = await send(method, path);
    assert.equal(reply.status, status, `${method} ${path}`);
    assert.match(reply.text, pattern, `${method} ${path}`);
  }
});

test("a template with an unsupported part is refused with the reason", async () => {
  for (const [path, body, pattern] of [
    ["/_index_template/t", {}, /index patterns are missing/],
    ["/_index_template/t", { index_patterns: "x", bogus: 1 }, /unknown field \[bogus\]/],
    ["/_index_template/t", { index_patterns: "x", priority: -1 }, /priority must be >= 0/],
    ["/_index_template/A b", { index_patterns: "x" }, /name must not contain a space/],
    ["/_index_template/t", { index_patterns: "x", data_stream: [] }, /\[data_stream\] must be an object/],
    [
      "/_index_template/t",
      { index_patterns: "x", template: { mappings: { properties: { a: { type: "bogus" } } } } },
      /bogus/,
    ],
    ["/_component_template/t", {}, /Required \[template\]/],
    ["/_component_template/t", { template: { mappings: { line: { properties: {} } } } }, /no types/],
  ] as const) {
    const reply = await send("PUT", encodeURI(path), body);
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.match(reply.text, pattern);
  }
});

test("a simulation shows what an index would get, and which templates fit beside that", async () => {
  await send("PUT", "/_template/sim-old", { index_patterns: ["sim*"] });
  const kept = await send("PUT", "/_index_template/sim-new", {
    index_patterns: ["sim-*"],
    priority: 1,
    template: { settings: { number_of_shards: 4 } },
  });
  assert.match(
    String(kept.headers["warning"]),
    /existing older templates \[sim-old\] with patterns \(sim-old => \[sim\*\]\)/,
  );
  const warned = await send("PUT", "/_template/sim-old", { index_patterns: ["sim*"] });
  assert.match(String(warned.headers["warning"]), /may be ignored in favor of a composable template/);
  const path = "/_index_template/_simulate_index/sim-1";
  assert.deepEqual((await send("POST", path)).body, {
    template: { settings: { index: { number_of_shards: "4" } }, mappings: {}, aliases: {} },
    overlapping: [{ name: "sim-old", index_patterns: ["sim*"] }],
  });
  const given = await send("POST", path, {
    index_patterns: ["sim-*"],
    priority: 2,
    template: { settings: { number_of_shards: 8 } },
  });
  assert.equal(given.body["template"]!["settings"]!["index"]!["number_of_shards"], "8");
  assert.deepEqual(
    (given.body["overlapping"] as unknown as { name: string }[]).map(({ name }) => name),
    ["sim-old", "sim-new"],
  );
  assert.deepEqual((await send("POST", "/_index_template/_simulate_index/other")).body, {});
  const whole = await send("POST", "/_index_template/_simulate/sim-new");
  assert.equal(whole.body["template"]!["settings"]!["index"]!["number_of_shards"], "4");
  assert.equal((await send("POST", "/_index_template/_simulate/none")).status, 400);
  const table = await send("GET", "/_cat/templates/sim-*?h=name,index_patterns,order&s=name");
  assert.equal(table.text.replace(/ +/g, " "), "sim-new [sim-*] 1\nsim-old [sim*] 0\n");
});

test("a data stream is made, written, searched by name, rolled over and deleted", async () => {
  const template = { index_patterns: ["ds-*"], data_stream: {}, priority: 200 };
  await send("PUT", "/_index_template/streams", template);
  assert.deepEqual((await send("PUT", "/_data_stream/ds-a")).body, { acknowledged: true });
  assert.match((await send("PUT", "/_data_stream/ds-a")).text, /resource_already_exists_exception/);
  const [stream] = (await send("GET", "/_data_stream/ds-*")).body["data_streams"] as unknown as [
    { indices: [{ index_name: string }]; generation: number; template: string; timestamp_field: object },
  ];
  const first = stream.indices[0].index_name;
  assert.match(first, /^\.ds-ds-a-\d{4}\.\d{2}\.\d{2}-000001$/);
  assert.deepEqual(
    [stream.generation, stream.template, stream.timestamp_field],
    [1, "streams", { name: "@timestamp" }],
  );
  assert.equal((await send("GET", "/ds-a")).body[first]!["data_stream"], "ds-a");
  const rolled = await send("POST", "/ds-a/_rollover");
  const next = rolled.body["new_index"] as unknown as string;
  assert.deepEqual([rolled.body["old_index"], rolled.body["rolled_over"]], [first, true]);
  assert.match(next, /-000002$/);
  assert.equal((await send("POST", "/ds-a/_rollover/other")).status, 400);
  assert.equal((await send("HEAD", "/ds-a")).status, 200);
  const resolved = (await send("GET", "/_resolve/index/ds-*")).body;
  assert.deepEqual(resolved["data_streams"], [
    { name: "ds-a", backing_indices: [first, next], timestamp_field: "@timestamp" },
  ]);
  assert.match((await send("DELETE", "/ds-a")).text, /matches a data stream/);
  assert.match((await send("DELETE", `/${next}`)).text, /is the write index for data stream \[ds-a\]/);
  for (const path of [`/${next}/_close`, "/ds-*/_close"]) {
    const { status, text } = await send("POST", path);
    assert.equal(status, 400);
    assert.ok(text.includes(`cannot close the following data stream write indices [${next}]`), text);
  }
  assert.equal((await send("POST", `/${first}/_close`)).status, 200);
  assert.equal((await send("POST", `/${first}/_open`)).status, 200);
  const removal = { actions: [{ remove_index: { index: next } }] };
  assert.match(
    (await send("POST", "/_aliases", removal)).text,
    /is the write index for data stream \[ds-a\]/,
  );
  assert.match((await send("DELETE", "/_index_template/streams")).text, /in use by a data streams \[ds-a\]/);
  assert.equal((await send("DELETE", `/${first}`)).status, 200);
  const stats = (await send("GET", "/_data_stream/ds-a/_stats")).body;
  assert.deepEqual([stats["data_stream_count"], stats["backing_indices"]], [1, 1]);
  assert.deepEqual((await send("DELETE", "/_data_stream/ds-a")).body, { acknowledged: true });
  assert.equal((await send("HEAD", `/${next}`)).status, 404);
  assert.equal((await send("DELETE", "/_index_template/streams")).status, 200);
});

test("a write that requires an alias makes no index", async () => {
  await send("PUT", "/aliased-1", { aliases: { aliased: {} } });
  for (const [name, status] of [
    ["aliased", 201],
    ["aliased-1", 404],
    ["nothing", 404],
  ] as const) {
    assert.equal((await send("POST", `/${name}/_doc?require_alias=true`, { n: 1 })).status, status, name);
    const line = `{"index":{"_index":"${name}","require_alias":true}}\n{"n":1}\n`;
    const [item] = (await send("POST", "/_bulk", line)).body["items"] as unknown as [
      { index: { status: number } },
    ];
    assert.equal(item.index.status, status, name);
    const plain = await send("POST", `/${name}/_bulk?require_alias=true`, '{"index":{}}\n{"n":1}\n');
    assert.equal(plain.body["errors"], status !== 201, name);
  }
  assert.equal((await send("HEAD", "/nothing")).status, 404);
});
