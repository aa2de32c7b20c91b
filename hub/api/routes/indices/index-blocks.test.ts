import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  await hub.start();
  await send("PUT", "/i/_doc/1?refresh=true", { n: 1 });
});
after(() => hub.stop());

const READS = ["GET /i/_search", "GET /i/_count", "GET /i/_doc/1"];
const METADATA_READS = ["GET /i", "GET /i/_settings", "GET /i/_mapping"];
const METADATA_WRITES = ["PUT /i/_mapping/_doc", "PUT /i/_settings", "POST /i/_close"];
const BODIES: Readonly<Record<string, object>> = {
  "PUT /i/_mapping/_doc": { properties: { n: { type: "long" } } },
  "PUT /i/_settings": { refresh_interval: "5s", max_result_window: 20_000 },
};

/** [block, its reason, what it refuses, what it allows] */
const BLOCKS = [
  ["read", "FORBIDDEN/7/index read (api)", READS, [...METADATA_READS, ...METADATA_WRITES.slice(0, 2)]],
  [
    "read_only",
    "FORBIDDEN/5/index read-only (api)",
    [...METADATA_WRITES, "DELETE /i"],
    [...READS, ...METADATA_READS],
  ],
  [
    "metadata",
    "FORBIDDEN/9/index metadata (api)",
    [...METADATA_READS, ...METADATA_WRITES, "DELETE /i"],
    READS,
  ],
  [
    "read_only_allow_delete",
    "FORBIDDEN/12/index read-only / allow delete (api)",
    METADATA_WRITES,
    [...READS, ...METADATA_READS, "DELETE /i"],
  ],
] as const;

for (const [block, reason, refused, allowed] of BLOCKS)
  test(`a block of ${block} forbids what it says, until it is removed`, async () => {
    const ask = (request: string) => {
      const [method, path] = request.split(" ") as [string, string];
      return send(method, path, BODIES[request]);
    };
    assert.equal((await send("PUT", "/i/_settings", { [`index.blocks.${block}`]: true })).status, 200);
    for (const request of refused) {
      const { status, body } = await ask(request);
      assert.equal(status, 403, request);
      assert.equal(body["error"]!["type"], "cluster_block_exception");
      assert.equal(body["error"]!["reason"], `blocked by: [${reason}];`);
    }
    const state = (await send("GET", "/_cluster/state/blocks")).body["blocks"]!["indices"]!["i"]!;
    assert.deepEqual(Object.keys(state), [reason.split("/")[1]]);
    for (const request of allowed) assert.equal((await ask(request)).status, 200, request);
    if ((await send("HEAD", "/i")).status === 404) return;
    assert.equal((await send("PUT", "/i/_settings", { [`index.blocks.${block}`]: null })).status, 200);
    for (const request of refused.filter((each) => !/_close|DELETE/.test(each)))
      assert.equal((await ask(request)).status, 200, request);
  });

/** [request, body]; all change the aliases of w-000001. */
const ALIAS_CHANGES = [
  ["POST /_aliases", { actions: [{ add: { index: "w-000001", alias: "b" } }] }],
  ["POST /_aliases", { actions: [{ remove: { index: "w-000001", alias: "b" } }] }],
  ["PUT /w-000001/_alias/c", {}],
  ["DELETE /w-000001/_alias/c", undefined],
  ["POST /w/_rollover", {}],
] as const;
const REMOVAL = { actions: [{ remove_index: { index: "w-000001" } }] };

test("a block of metadata forbids changes of aliases and rollovers, and removals where it forbids deletions", async () => {
  await send("PUT", "/w-000001", { aliases: { w: {}, b: {}, c: {} } });
  const block = (name: string, value: true | null) =>
    send("PUT", "/w-000001/_settings", { [`index.blocks.${name}`]: value });
  for (const name of ["read_only", "read_only_allow_delete"]) {
    await block(name, true);
    for (const [request, body] of ALIAS_CHANGES) {
      const answer = await send(...(request.split(" ") as [string, string]), body);
      assert.equal(answer.status, 403, `${name}: ${request}`);
      assert.equal(answer.body["error"]!["type"], "cluster_block_exception");
    }
    if (name === "read_only") {
      assert.equal((await send("POST", "/_aliases", REMOVAL)).status, 403);
      await block(name, null);
    }
  }
  assert.equal((await send("POST", "/_aliases", REMOVAL)).status, 200);
  assert.equal((await send("HEAD", "/w-000001")).status, 404);
});

test("a write to an index that only may be deleted from is to be repeated, for clients of 7.x", async () => {
  await send("PUT", "/full", { settings: { "index.blocks.read_only_allow_delete": true } });
  const seven = { accept: "application/vnd.elasticsearch+json; compatible-with=7" };
  const write = (headers = {}): ReturnType<typeof send> => send("PUT", "/full/_doc/1", {}, headers);
  assert.equal((await write()).status, 403);
  const { status, body } = await write(seven);
  assert.deepEqual([status, body["error"]!["type"]], [429, "cluster_block_exception"]);
  assert.match(JSON.stringify(body["error"]!["reason"]), /\[TOO_MANY_REQUESTS\/12\//);
});
