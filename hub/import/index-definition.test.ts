import assert from "node:assert/strict";
import { test } from "node:test";
import { answeringClient } from "#test/harness/answering-client.ts";
import { importPolicies } from "./import-definitions.ts";
import { definitionOf, putDefinition } from "./index-definition.ts";

const PROPERTIES = { a: { type: "keyword" } };

for (const [name, given, target, expected] of [
  [
    "settings of placement are left out silently, others by name",
    {
      settings: {
        index: { uuid: "u", number_of_shards: "3", analysis: { analyzer: { x: { type: "simple" } } } },
        "index.routing.allocation.include._tier_preference": "data_hot",
        "index.sort.field": ["a"],
      },
    },
    700,
    {
      body: { settings: { number_of_shards: "3", "analysis.analyzer.x.type": "simple" } },
      leftOut: ["setting sort.field"],
    },
  ],
  [
    "the lifecycle is kept where the hub has the policy",
    {
      settings: {
        index: { lifecycle: { name: "month", rollover_alias: "logs", parse_origination_date: true } },
      },
    },
    700,
    { body: { settings: { "lifecycle.name": "month", "lifecycle.rollover_alias": "logs" } }, leftOut: [] },
  ],
  [
    "a policy that the hub doesn't have is left out by name",
    { settings: { index: { lifecycle: { name: "year", rollover_alias: "logs" } } } },
    700,
    { body: {}, leftOut: ["setting lifecycle.name: there is no policy year in the hub"] },
  ],
  [
    "a type is kept for a hub that answers as 6",
    { mappings: { _default_: {}, doc: { properties: PROPERTIES } } },
    605,
    { body: { mappings: { doc: { properties: PROPERTIES } } }, leftOut: [] },
  ],
  [
    "a type is taken off for a hub that answers as 7, runtime fields are named",
    { mappings: { doc: { properties: PROPERTIES, runtime: { r: { type: "long" } } } } },
    717,
    { body: { mappings: { properties: PROPERTIES } }, leftOut: ["runtime field r"] },
  ],
] as const) {
  test(`definition: ${name}`, () =>
    assert.deepEqual(definitionOf(given, target, new Set(["month"])), expected));
}

test("definition: several types are refused", () => {
  const mappings = { user: { properties: {} }, order: { properties: {} } };
  assert.throws(() => definitionOf({ mappings }, 605, new Set()), {
    code: "not_offered",
    message: /types user, order/,
  });
});

test("types and parameters of fields that a hub refuses are left out one after the other", async (t) => {
  const seen: unknown[] = [];
  const hub = await answeringClient(t, (_path, sent) => {
    seen.push(JSON.parse(sent));
    const refuse = (reason: string) => ({ status: 400, body: { error: { reason } } });
    if (sent.includes('"join"')) return refuse("field [j]: type [join] is not offered; denormalise");
    if (sent.includes('"speed"')) return refuse("has unsupported parameters:  [speed : 1]");
    return { status: 200, body: {} };
  });
  const properties = {
    o: { properties: { j: { type: "join", relations: {} }, k: { type: "keyword", speed: 1 } } },
  };
  const leftOut = await putDefinition(hub, "/x", { body: { mappings: { properties } }, leftOut: [] });
  assert.deepEqual(leftOut, ["index of field o.j, of type join", "parameter speed of field o.k"]);
  const kept = { o: { properties: { j: { type: "object", enabled: false }, k: { type: "keyword" } } } };
  assert.deepEqual(seen.at(-1), { mappings: { properties: kept } });
});

test("lifecycle policies are imported; refused ones become retention rules of the patterns that use them", async (t) => {
  const settings = { index: { lifecycle: { name: "month" } } };
  const deletion = { min_age: "30d", actions: { delete: {} } };
  const policyOf = (hot: object) => ({ version: 3, policy: { phases: { hot, delete: deletion } } });
  const answers: Record<string, object> = {
    "/_ilm/policy": {
      month: policyOf({ actions: { later: {} } }),
      forever: policyOf({ actions: { rollover: { max_age: "1d" }, set_priority: { priority: 1 } } }),
      there: policyOf({}),
      "30-days-default": policyOf({}),
    },
    "/_template": { old: { index_patterns: ["old-*"], settings } },
    "/_index_template": {
      index_templates: [{ name: "n", index_template: { index_patterns: ["new-*"], template: { settings } } }],
    },
  };
  const source = await answeringClient(t, (path) => ({ status: 200, body: answers[path] ?? {} }));
  const put: string[] = [];
  const hub = await answeringClient(t, (path, sent, method) => {
    if (method === "GET") return { status: path.endsWith("/there") ? 200 : 404, body: {} };
    if (sent.includes("later")) return { status: 400, body: { error: { reason: "unknown [later]" } } };
    put.push(path);
    return { status: 200, body: {} };
  });
  const { results, names, rules } = await importPolicies(source, hub);
  assert.deepEqual(put, ["/_ilm/policy/forever"], "what the hub has stays, what the cluster brings too");
  assert.deepEqual([...names], ["forever", "there"]);
  assert.deepEqual(rules, ["old-* 30d", "new-* 30d"]);
  assert.deepEqual(results, [
    {
      kind: "lifecycle",
      name: "month",
      error: "unknown [later]",
      leftOut: [],
    },
    {
      kind: "lifecycle",
      name: "forever",
      error: undefined,
      leftOut: ["the effect of hot.set_priority"],
    },
  ]);
});
