import assert from "node:assert/strict";
import { test } from "node:test";
import type { Indices } from "#hub/api/ports/indices.ts";
import { actionsOf, type Principal, type Role } from "#hub/auth/accounts/principal.ts";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { reaches } from "./index-access.ts";
import { GuardedIndices, type Sender } from "./index-guard.ts";

function principal(role: Role, indices: readonly string[]): Principal {
  return { kind: "user", id: "1", name: "ada", role, actions: actionsOf(role), indices };
}

test("the hub's own indices are for administrators, whatever the patterns are", () => {
  for (const [role, expected] of [
    ["admin", true],
    ["editor", false],
    ["viewer", false],
    ["ingest", false],
  ] as const) {
    assert.equal(reaches(principal(role, ["*"]), ".tailrace-audit-2026.11"), expected, role);
    assert.equal(reaches(principal(role, ["*"]), ".tasks"), expected, role);
    assert.ok(reaches(principal(role, ["*"]), "logs-1"), role);
    assert.ok(!reaches(principal(role, ["public-*"]), "logs-1"), role);
  }
});

test("an editor can't give an index a name, or a template a pattern, beyond its own patterns", async () => {
  const done: string[] = [];
  const inner = {
    resolve: () => [],
    get: () => undefined,
    templates: () => ({ taken: { index_patterns: ["logs-*"] } }),
    updateAliases: async () => void done.push("aliases"),
    putTemplate: async () => void done.push("template"),
  } as unknown as Indices;
  const guarded = new GuardedIndices(inner, () => ({
    principal: principal("editor", ["own-*"]),
    actions: ["index_manage"],
  }));
  const refused = { code: "forbidden" };
  const add = (index: string, alias: string) =>
    guarded.updateAliases([{ kind: "add", index, alias, info: {} }]);
  const put = (name: string, pattern: string) =>
    guarded.putTemplate(name, {
      index_patterns: [pattern],
      order: 0,
      settings: {},
      mappings: {},
      aliases: {},
    });
  await assert.rejects(add("own-1", "logs"), refused);
  await assert.rejects(add("logs-1", "own-alias"), refused);
  await assert.rejects(put("new", "*"), refused);
  await assert.rejects(put("taken", "own-*"), refused, "a template of others isn't replaced");
  assert.deepEqual(done, []);
  await add("own-1", "own-alias");
  await put("new", "own-*");
  assert.deepEqual(done, ["aliases", "template"]);
});

test("a name with a date is granted as the index that it makes", async () => {
  const bucket = new MemoryBucket();
  const catalog = new IndexCatalog({ bucket, log: silentLogger(), now: Date.now });
  await catalog.start();
  const as = (grant: string): GuardedIndices =>
    new GuardedIndices(catalog, () => ({
      principal: principal("editor", [grant]),
      actions: ["index_manage"],
    }));
  const definition = { settings: {}, mappings: {}, aliases: {} };
  const refused = { code: "forbidden" };
  for (const [grant, name] of [
    ["*", "<.tailrace-audit-{now/d}>"],
    ["*own*", "<logs-{now/d{yyyy|UTC|own}}>"],
  ] as const) {
    await assert.rejects(as(grant).create(name, definition), refused);
    await assert.rejects(as(grant).createExact(name, definition), refused);
    await assert.rejects(as(grant).ensure(name), refused);
  }
  assert.deepEqual(catalog.all(), []);
  await as("own-*").create("<own-a-{now/d}>", definition);
  await as("own-*").ensure("<own-b-{now/d}>");
  await catalog.stop();
});

test("what reads and writes needs the right to read its source and the right to write its destination", async (t) => {
  const catalog = new IndexCatalog({ bucket: new MemoryBucket(), log: silentLogger(), now: () => 0 });
  await catalog.start();
  t.after(() => catalog.stop());
  for (const name of ["logs-1", "copy-1", "other-1"])
    await catalog.create(name, { settings: {}, mappings: {}, aliases: {} });
  await catalog.updateAliases([{ kind: "add", index: "copy-1", alias: "front", info: {} }]);
  const sender: Sender = {
    principal: principal("editor", ["logs-*:read", "copy-*:write", "front:read"]),
    actions: ["search", "ingest"],
  };
  const guarded = new GuardedIndices(catalog, () => sender);
  const refused = { code: "forbidden" };
  const names = (expression: string) => guarded.resolve(expression, {}).map(({ name }) => name);
  assert.deepEqual(names("logs-1"), ["logs-1"]);
  assert.deepEqual(names("*"), ["logs-1"], "what may not be read is left out");
  assert.throws(() => guarded.resolve("copy-1", {}), refused);
  assert.throws(() => guarded.resolve("front", {}), { ...refused, message: /^(?!.*copy-1)/ });
  assert.deepEqual(
    ["logs-1", "copy-1", "other-1"].map((name) => guarded.get(name)?.name),
    ["logs-1", "copy-1", undefined],
    "what was written is found, so that it can be refreshed",
  );
  const reader = new GuardedIndices(catalog, () => ({ ...sender, actions: ["search"] }));
  assert.equal(reader.get("copy-1"), undefined);
  guarded.checkName("copy-2");
  assert.throws(() => guarded.checkName("logs-2"), refused);
  assert.equal(new GuardedIndices(catalog, () => ({ ...sender, actions: ["monitor"] })).all().length, 2);
});

test("a lifecycle is changed by who may delete all indices that it concerns", async (t) => {
  const catalog = new IndexCatalog({ bucket: new MemoryBucket(), log: silentLogger(), now: () => 0 });
  await catalog.start();
  t.after(() => catalog.stop());
  const settings = { "lifecycle.name": "shared" };
  await catalog.create("own-1", { settings, mappings: {}, aliases: {} });
  await catalog.create("other-1", { settings, mappings: {}, aliases: {} });
  const guardedAs = (role: Role) =>
    new GuardedIndices(catalog, () => ({
      principal: principal(role, ["own-*"]),
      actions: role === "admin" ? ["index_manage", "index_delete"] : ["index_manage"],
    }));
  const { lifecycles } = guardedAs("admin");
  const refused = { code: "forbidden" };
  await lifecycles.put("own", { phases: {} });
  await assert.rejects(lifecycles.put("shared", { phases: {} }), refused);
  await catalog.putTemplate("t", {
    index_patterns: ["other-*"],
    order: 0,
    settings: { "lifecycle.name": "own" },
    mappings: {},
    aliases: {},
  });
  await assert.rejects(lifecycles.delete("own"), refused);
  await assert.rejects(lifecycles.setStopped(true), refused);
  await guardedAs("admin").putSettings("own-1", { "lifecycle.name": "own" });
  const editor = guardedAs("editor");
  await assert.rejects(editor.putSettings("own-1", { "lifecycle.origination_date": 0 }), refused);
  await editor.putSettings("own-1", { "lifecycle.name": null });
});

test("the indices of a data stream are reached by who reaches the stream", async (t) => {
  const catalog = new IndexCatalog({ bucket: new MemoryBucket(), log: silentLogger(), now: () => 0 });
  await catalog.start();
  t.after(() => catalog.stop());
  const template = { index_patterns: ["*-stream"], composed_of: ["part"], data_stream: {} };
  await catalog.templateCatalog.putComponent("part", { template: {} });
  await catalog.templateCatalog.putComposable("streams", template);
  const own = await catalog.createDataStream("own-stream");
  const other = await catalog.createDataStream("other-stream");
  const guarded = new GuardedIndices(catalog, () => ({
    principal: principal("editor", ["own-*"]),
    actions: ["index_manage"],
  }));
  assert.deepEqual(guarded.all(), [own]);
  assert.deepEqual(guarded.resolve("*", {}), [own]);
  assert.deepEqual(guarded.resolve("own-stream", {}), [own]);
  assert.equal(guarded.get(other.name), undefined);
  const refused = { code: "forbidden" };
  assert.throws(() => guarded.resolve("other-stream", {}), refused);
  await assert.rejects(guarded.delete([other.name]), refused);
  await assert.rejects(guarded.deleteExactly(other), refused);
  await assert.rejects(guarded.createDataStream("new-stream"), refused);
  const plain = { settings: {}, mappings: {}, aliases: {} };
  await assert.rejects(guarded.rollDataStream("other-stream", "x", plain), refused);
  const { templateCatalog } = guarded;
  assert.deepEqual(templateCatalog.set().templates, {}, "it fits names of others");
  await assert.rejects(templateCatalog.putComposable("streams", template), refused);
  await assert.rejects(templateCatalog.putComponent("part", { template: {} }), refused);
  await assert.rejects(templateCatalog.deleteComponents(["part"]), refused);
  await templateCatalog.putComponent("mine", { template: {} });
  await templateCatalog.putComposable("mine", {
    index_patterns: ["own-x"],
    composed_of: ["mine"],
    priority: 9,
  });
  assert.deepEqual(Object.keys(templateCatalog.set().templates), ["mine"]);
  await guarded.delete([own.name]);
});
