import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";

const hub = new FakeHub();
before(() => hub.start());
after(() => hub.stop());

async function send(method: string, path: string, body?: string): Promise<Record<string, never>> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(hub.server.addresses.http + path, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  return (method === "HEAD" ? {} : await response.json()) as Record<string, never>;
}

interface Usage {
  readonly _nodes: object;
  readonly nodes: Readonly<Record<string, { since: number; timestamp: number; rest_actions?: object }>>;
}

test("_nodes/usage counts the requests of each action, by the names of 6.5", async () => {
  await send("PUT", "/a", "{}");
  for (const id of ["1", "2"]) await send("PUT", `/a/_doc/${id}`, "{}");
  await send("HEAD", "/a/_doc/1");
  await send("GET", "/a/_doc/3");
  await send("POST", "/a/_search", "{}");
  await send("GET", "/a/_search?q=*");
  await send("GET", "/a/_search?unknown=1");
  await send("GET", "/_cat/thread_pool?format=json");
  const { _nodes, nodes } = (await send("GET", "/_nodes/usage")) as unknown as Usage;
  assert.deepEqual(_nodes, { total: 1, successful: 1, failed: 0 });
  const [[id, node]] = Object.entries(nodes) as [[string, Usage["nodes"][string]]];
  assert.ok(node.since <= node.timestamp);
  const counted = {
    cat_threadpool_action: 1,
    create_index_action: 1,
    document_get_action: 2,
    document_index_action: 2,
    nodes_usage_action: 1,
    search_action: 2,
  };
  assert.deepEqual(node.rest_actions, counted);
  const { nodes: again } = (await send("GET", `/_nodes/${id}/usage/rest_actions`)) as unknown as Usage;
  assert.deepEqual(again[id]!.rest_actions, { ...counted, nodes_usage_action: 2 });
  const { nodes: none } = (await send("GET", "/_nodes/none/usage")) as unknown as Usage;
  assert.deepEqual(none, {});
  const { nodes: without } = (await send("GET", "/_nodes/usage/other")) as unknown as Usage;
  assert.deepEqual(Object.keys(without[id]!), ["timestamp", "since"]);
});

test("_nodes/usage refuses _all beside other metrics", async () => {
  const { error } = (await send("GET", "/_nodes/usage/_all,rest_actions")) as unknown as {
    error: { reason: string };
  };
  assert.equal(
    error.reason,
    "request [/_nodes/usage/_all,rest_actions] contains _all and individual metrics [_all,rest_actions]",
  );
});
