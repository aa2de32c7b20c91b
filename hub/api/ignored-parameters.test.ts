import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { apiCompatibility } from "#hub/api/compat/interface-compatibility.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const api = clientOf(() => hub.server.addresses.dashboard);

before(async () => {
  await hub.start();
  await send("PUT", "/logs", { mappings: { properties: { host: { type: "keyword" } } } });
});
after(() => hub.stop());

test("every parameter of the list is taken by a route", async () => {
  const { paths } = (await api("GET", "/api/openapi.json")).body;
  const taken = new Set<string>();
  for (const operations of Object.values(paths!)) {
    for (const operation of Object.values(operations) as { parameters: { name?: string }[] }[])
      for (const { name = "" } of operation.parameters) taken.add(name);
  }
  const rows = apiCompatibility().filter(({ name }) => name.startsWith("?"));
  assert.deepEqual(
    rows.filter(({ name }) => !taken.has(name.slice(1).split("=")[0]!)),
    [],
  );
  assert.ok(rows.length > 30);
});

for (const [field, pattern] of [
  [
    { type: "version" },
    /type \[version\] of field \[a\.b\] is accepted and does less: versions are ordered as texts/,
  ],
  [{ type: "constant_keyword", value: "x" }, /\[value\] of type \[constant_keyword\] of field \[a\.b\]/],
  [{ type: "constant_keyword" }, undefined],
  [
    { type: "completion", analyzer: "whitespace" },
    /\[analyzer\] of type \[completion\] of field \[a\.b\] is accepted and does less: completions ignore case/,
  ],
  [{ type: "completion", preserve_separators: false }, /\[preserve_separators\] of type \[completion\]/],
  [{ type: "completion", analyzer: "simple", preserve_separators: true }, undefined],
] as const) {
  test(`a field ${JSON.stringify(field)} ${pattern === undefined ? "has no warning" : "is warned of"}`, async () => {
    const mappings = { properties: { a: { properties: { b: field } } } };
    const template = { index_patterns: ["w-*"], template: { mappings } };
    for (const [method, path, body] of [
      ["PUT", "/with-field", { mappings }],
      ["PUT", "/with-field/_mapping/_doc", mappings],
      ["PUT", "/_index_template/w", template],
    ] as const) {
      const { headers } = await send(method, path, body);
      if (pattern === undefined) assert.doesNotMatch(String(headers["warning"]), /does less/);
      else assert.match(String(headers["warning"]), pattern, path);
    }
    await send("DELETE", "/with-field");
  });
}

for (const [method, path, pattern] of [
  ["GET", "/_validate/query?rewrite=true", /parameter \[rewrite\] is accepted and does nothing/],
  ["GET", "/_tasks?parent_task_id=a:1", /parameter \[parent_task_id\] is accepted and does nothing/],
  ["GET", "/logs/_stats?forbid_closed_indices=true", /closed indices are left out/],
  ["GET", "/logs/_search?search_type=dfs_query_then_fetch", /parameter \[search_type=dfs_query_then_fetch\]/],
  ["GET", "/logs/_search?search_type=query_then_fetch", undefined],
  ["GET", "/_cluster/health?wait_for_events=languid", undefined],
  ["GET", "/logs/_mapping?master_timeout=1s", undefined],
] as const) {
  test(`${method} ${path} ${pattern === undefined ? "has no warning" : "is warned of"}`, async () => {
    const { status, headers } = await send(method, path);
    assert.equal(status, 200);
    if (pattern === undefined) assert.equal(headers["warning"], undefined);
    else assert.match(String(headers["warning"]), pattern);
  });
}

test("the search type in a header of _msearch is warned of as well", async () => {
  const body = '{"index":"logs","search_type":"dfs_query_then_fetch"}\n{}\n';
  const { headers } = await send("POST", "/_msearch", body);
  assert.match(String(headers["warning"]), /parameter \[search_type=dfs_query_then_fetch\]/);
});
