import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const V8 = { accept: "application/vnd.elasticsearch+json;compatible-with=8" };

before(() => hub.start());
after(() => hub.stop());

const ROLLING = {
  phases: {
    hot: { actions: { rollover: { max_docs: 1000 }, set_priority: { priority: 1 } } },
    delete: { min_age: "30d", actions: { delete: {} } },
  },
};

test("a policy is stored with a warning of what does nothing, shown, and not deleted in use", async () => {
  const put = await send("PUT", "/_ilm/policy/p", { policy: ROLLING });
  assert.deepEqual(put.body, { acknowledged: true });
  assert.match(
    String(put.headers["warning"]),
    /lifecycle action \[hot.set_priority\] is accepted and does nothing/,
  );
  await send("PUT", "/_ilm/policy/p", { policy: ROLLING });
  const { body } = await send("GET", "/_ilm/policy/p");
  const shown = body["p"]!;
  assert.deepEqual(Object.keys(shown), ["version", "modified_date", "policy"]);
  assert.equal(shown["version"], 2);
  assert.match(shown["modified_date"] as unknown as string, /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.deepEqual(shown["policy"], {
    phases: { hot: { min_age: "0ms", ...ROLLING.phases.hot }, delete: ROLLING.phases.delete },
  });
  const settings = { "index.lifecycle.name": "p", "index.lifecycle.rollover_alias": "logs" };
  const made = await send("PUT", "/logs-000001", { settings, aliases: { logs: { is_write_index: true } } });
  assert.equal(made.headers["warning"], undefined);
  await send("PUT", "/_index_template/t", { index_patterns: ["logs-*"], template: { settings } });
  const later = (await send("GET", "/_ilm/policy", undefined, V8)).body["p"]!;
  assert.deepEqual(later["in_use_by"], {
    indices: ["logs-000001"],
    data_streams: [],
    composable_templates: ["t"],
  });
  const refused = await send("DELETE", "/_ilm/policy/p");
  assert.equal(refused.status, 400);
  assert.match(
    refused.text,
    /Cannot delete policy \[p\]. It is in use by one or more indices: \[logs-000001\]/,
  );
  await send("POST", "/logs/_ilm/remove");
  assert.equal((await send("DELETE", "/_ilm/policy/p")).status, 200);
  assert.deepEqual((await send("GET", "/logs/_ilm/explain")).body["indices"] as object, {
    "logs-000001": { index: "logs-000001", managed: false },
  });
});

for (const [method, path, body, status, expected] of [
  ["GET", "/_ilm/policy/none", undefined, 404, /Lifecycle policy not found: none/],
  ["DELETE", "/_ilm/policy/none", undefined, 404, /Lifecycle policy not found: none/],
  ["PUT", "/_ilm/policy/_x", { policy: ROLLING }, 400, /invalid policy name \[_x\]: must not start with '_'/],
  ["PUT", "/_ilm/policy/x", { phases: {} }, 400, /unknown field \[phases\]/],
  ["PUT", "/_ilm/policy/x", {}, 400, /Required \[policy\]/],
  ["PUT", "/_ilm/policy/x", { policy: { phases: { late: {} } } }, 400, /does not support phase \[late\]/],
  [
    "PUT",
    "/_template/bad",
    { index_patterns: ["bad"], settings: { "lifecycle.name": 5 } },
    400,
    /index.lifecycle.name/,
  ],
  [
    "PUT",
    "/_template/bad",
    { index_patterns: ["bad"], settings: { "index.lifecycle.origination_date": "2020-01-01" } },
    400,
    /index.lifecycle.origination_date/,
  ],
  [
    "PUT",
    "/_index_template/bad",
    { index_patterns: ["bad"], template: { settings: { "index.auto_expand_replicas": "yes" } } },
    400,
    /failed to parse \[index.auto_expand_replicas\]/,
  ],
  ["GET", "/missing/_ilm/explain", undefined, 404, /no such index/],
  [
    "PUT",
    "/bad",
    { settings: { "lifecycle.origination_date": "soon" } },
    400,
    /index.lifecycle.origination_date/,
  ],
] as const) {
  test(`${method} ${path} answers ${status}: ${expected.source.slice(0, 40)}`, async () => {
    const answer = await send(method, path, body);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, expected);
  });
}

test("the mode is kept, and stops at once", async () => {
  assert.deepEqual((await send("GET", "/_ilm/status")).body, { operation_mode: "RUNNING" });
  await send("POST", "/_ilm/stop");
  assert.deepEqual((await send("GET", "/_ilm/status")).body, { operation_mode: "STOPPED" });
  await send("POST", "/_ilm/start");
  assert.deepEqual((await send("GET", "/_ilm/status")).body, { operation_mode: "RUNNING" });
});

test("explain shows phase, age and errors, and what failed can be retried", async () => {
  await send("PUT", "/_ilm/policy/q", { policy: ROLLING });
  const settings = { "index.lifecycle.name": "q", "index.lifecycle.rollover_alias": "w" };
  await send("PUT", "/w-000001", { settings, aliases: { w: {} } });
  await send("PUT", "/w-lost", { settings });
  await send("PUT", "/w-constructor", { settings: { "index.lifecycle.name": "constructor" } });
  const all = (await send("GET", "/w*/_ilm/explain?only_managed")).body["indices"] as Record<
    string,
    Record<string, unknown>
  >;
  const { age, lifecycle_date_millis: date, phase_execution: run, ...fine } = all["w-000001"]!;
  assert.match(String(age), /^[\d.]+(ms|s)$/);
  assert.equal(typeof date, "number");
  assert.equal((run as { policy: string }).policy, "q");
  assert.deepEqual(fine, {
    index: "w-000001",
    managed: true,
    policy: "q",
    phase: "hot",
    action: "rollover",
    step: "check-rollover-ready",
  });
  assert.deepEqual(all["w-lost"]!["step_info"], {
    type: "illegal_argument_exception",
    reason: "index.lifecycle.rollover_alias [w] does not point to index [w-lost]",
  });
  const failing = (await send("GET", "/w*/_ilm/explain?only_errors")).body["indices"] as object;
  assert.deepEqual(Object.keys(failing).sort(), ["w-constructor", "w-lost"]);
  assert.match((await send("POST", "/w-000001/_ilm/retry")).text, /has not encountered an error/);
  const index = hub.catalog.get("w-000001")!;
  await hub.catalog.lifecycles.setFault(index.name, { uuid: index.uuid, step: "rollover", reason: "why" });
  const failed = (await send("GET", "/w-000001/_ilm/explain")).text;
  assert.match(failed, /"failed_step":"rollover".*"reason":"why"/);
  assert.deepEqual((await send("POST", "/w-000001/_ilm/retry")).body, { acknowledged: true });
  assert.equal(hub.catalog.lifecycles.fault(index), undefined);
});

for (const [conditions, isDue] of [
  [{ max_docs: 3 }, true],
  [{ max_docs: 3, min_docs: 4 }, false],
  [{ min_docs: 3 }, true],
  [{ max_primary_shard_size: "1kb" }, true],
  [{ max_primary_shard_size: "2kb", max_age: "1d" }, false],
] as const) {
  test(`_rollover with ${JSON.stringify(conditions)} is ${isDue ? "due" : "not due"}`, async () => {
    await send("PUT", "/r-000001", { settings: { number_of_shards: 1 }, aliases: { r: {} } });
    const rolled = (await send("POST", "/r/_rollover", { conditions })).body;
    assert.equal(rolled["rolled_over"], isDue);
    await send("DELETE", "/r-*");
  });
}
