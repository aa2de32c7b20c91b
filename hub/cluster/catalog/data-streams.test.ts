import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { checkStreamDocument, checkStreamWrite } from "./data-streams.ts";
import { IndexCatalog } from "./index-catalog.ts";

const EMPTY = { settings: {}, mappings: {}, aliases: {} };
const START_MS = Date.parse("2026-11-21T10:00:00Z");

async function openCatalog(t: TestContext, bucket = new MemoryBucket()) {
  const clock = { nowMs: START_MS };
  const catalog = new IndexCatalog({ bucket, log: silentLogger(), now: () => clock.nowMs });
  await catalog.start();
  t.after(() => catalog.stop());
  return { catalog, clock };
}

/** A catalog where names that begin with "web" are streams. */
async function openStreams(t: TestContext, mappings = {}) {
  const opened = await openCatalog(t);
  await opened.catalog.templateCatalog.putComposable("web", {
    index_patterns: ["web*"],
    composed_of: [],
    template: { settings: { number_of_shards: 2 }, mappings },
    data_stream: {},
  });
  return opened;
}

const names = (found: readonly { name: string }[]) => found.map(({ name }) => name);

test("a write to a name that a template makes a stream of makes the stream with its first index", async (t) => {
  const { catalog } = await openStreams(t);
  const made = await catalog.ensure("web-logs");
  assert.equal(made.name, ".ds-web-logs-2026.11.21-000001");
  assert.equal(made.dataStream, "web-logs");
  assert.equal(made.settings.numberOfShards, 2);
  assert.equal(made.settings.raw["hidden"], true);
  assert.equal(made.mapping.field("@timestamp")?.type, "date");
  assert.equal((await catalog.ensure("web-logs")).name, made.name);
  const refused = { code: "request_invalid", message: /creates data streams only/ };
  await assert.rejects(catalog.create("web-2", EMPTY), refused);
});

test("many that write to a stream at the same time make one", async (t) => {
  const { catalog } = await openStreams(t);
  const made = await Promise.all(Array.from({ length: 8 }, () => catalog.ensure("web")));
  assert.equal(new Set(names(made)).size, 1);
});

test("a rollover is a new index: it takes the writes, searches find both, aliases go on", async (t) => {
  const { catalog, clock } = await openStreams(t);
  const first = await catalog.createDataStream("web");
  await catalog.updateAliases([{ kind: "add", index: first.name, alias: "sites", info: {} }]);
  clock.nowMs += DAY_MS;
  const next = catalog.nextBackingName("web");
  assert.equal(next, ".ds-web-2026.11.22-000002");
  await catalog.rollDataStream("web", next, EMPTY);
  for (const name of ["web", "sites"]) {
    assert.equal((await catalog.ensure(name)).name, next, name);
    assert.deepEqual(names(catalog.resolve(name, {})), [first.name, next], name);
  }
});

test("wildcards mean a stream by its name, and its indices by theirs only where it begins with a dot", async (t) => {
  const { catalog } = await openStreams(t);
  const { name } = await catalog.createDataStream("web");
  await catalog.create("plain", EMPTY);
  for (const [expression, options, expected] of [
    ["*", {}, [name, "plain"]],
    ["we*", {}, [name]],
    [".ds-*", {}, [name]],
    ["*", { concreteOnly: true }, ["plain"]],
    ["*", { concreteOnly: true, expandHidden: true }, [name, "plain"]],
    ["*-000001", {}, []],
  ] as const)
    assert.deepEqual(names(catalog.resolve(expression, options)), expected, `${expression}`);
  assert.throws(() => catalog.resolve("web", { concreteOnly: true }), { message: /matches a data stream/ });
});

test("a stream's name is taken, and a name that is taken becomes no stream", async (t) => {
  const { catalog } = await openStreams(t);
  const { name } = await catalog.createDataStream("web");
  await assert.rejects(catalog.createDataStream("web"), { code: "index_exists" });
  await assert.rejects(catalog.createDataStream("db"), { message: /no matching index template found/ });
  await assert.rejects(catalog.updateAliases([{ kind: "add", index: name, alias: "web", info: {} }]), {
    code: "index_name_invalid",
  });
  for (const bad of ["Web", ".ds-web", "web*", "a".repeat(250)])
    await assert.rejects(catalog.createDataStream(bad), { code: "index_name_invalid" }, bad);
});

test("a template whose times aren't dates makes no stream", async (t) => {
  const { catalog } = await openStreams(t, { properties: { "@timestamp": { type: "keyword" } } });
  await assert.rejects(catalog.ensure("web"), { message: /\[@timestamp\] is of type \[keyword\]/ });
});

test("another hub, and one that starts later, have the streams and templates", async (t) => {
  const bucket = new MemoryBucket();
  const { catalog } = await openCatalog(t, bucket);
  await catalog.templateCatalog.putComponent("part", { template: { settings: { codec: "x" } } });
  await catalog.templateCatalog.putComposable("t", {
    index_patterns: ["s*"],
    composed_of: ["part"],
    data_stream: { hidden: true },
  });
  await catalog.createDataStream("s1");
  const { catalog: later } = await openCatalog(t, bucket);
  assert.deepEqual(later.templateCatalog.set(), catalog.templateCatalog.set());
  assert.equal((await later.ensure("s1")).settings.raw["codec"], "x");
  assert.equal(later.all()[0]?.dataStream, "s1");
});

test("a template that forbids it lets no index be made by writing", async (t) => {
  const { catalog } = await openCatalog(t);
  await catalog.templateCatalog.putComposable("t", {
    index_patterns: ["no*"],
    composed_of: [],
    allow_auto_create: false,
  });
  await assert.rejects(catalog.ensure("nope"), {
    code: "index_missing",
    message: /forbids index auto creation/,
  });
  await catalog.create("nope", EMPTY);
});

test("a composable template leaves older ones out, but for the fields that events have", async (t) => {
  const { catalog } = await openCatalog(t);
  await catalog.putTemplate("older", {
    ...EMPTY,
    index_patterns: ["*"],
    order: 5,
    settings: { codec: "older" },
    aliases: { older: {} },
  });
  await catalog.templateCatalog.putComposable("newer", {
    index_patterns: ["logs-x*"],
    composed_of: [],
    template: { mappings: { properties: { message: { type: "keyword" } } } },
  });
  const index = await catalog.ensure("logs-x1");
  assert.deepEqual([index.aliases, index.settings.raw], [{}, { auto_expand_replicas: "0-1" }]);
  assert.equal(index.mapping.field("message")?.type, "keyword");
  assert.equal(index.mapping.field("log.offset")?.type, "long");
  assert.equal(index.mapping.toJSON()["dynamic_templates"], undefined);
});

for (const [what, write, refused] of [
  ["a new document", { index: "s", kind: "create" }, false],
  ["a document", { index: "s", kind: "index" }, true],
  ["an update", { index: "s", kind: "update" }, true],
  ["a deletion", { index: "s", kind: "delete" }, true],
  ["a new document, by its index,", { index: "b", kind: "create" }, true],
  ["a document unseen, by its index,", { index: "b", kind: "index" }, true],
  ["a document that was seen, by its index,", { index: "b", kind: "index", ifSeqNo: 3 }, false],
  ["a deletion by its index", { index: "b", kind: "delete" }, false],
] as const) {
  test(`${what} is ${refused ? "refused" : "taken"} by a stream`, () => {
    const check = () => checkStreamWrite({ name: "b", dataStream: "s" }, write);
    if (refused) assert.throws(check, { code: "request_invalid" });
    else check();
    checkStreamWrite({ name: "b" }, write);
  });
}

for (const [source, refused] of [
  ['{"@timestamp":1}', false],
  ['{"@timestamp":["2026-11-21"]}', false],
  ["{}", true],
  ['{"@timestamp":null}', true],
  ['{"x":{"@timestamp":1}}', true],
  ['{"@timestamp":[1,2]}', true],
  ["no JSON", false],
] as const) {
  test(`a stream ${refused ? "refuses" : "takes"} ${source}`, () => {
    const check = () => checkStreamDocument(Buffer.from(source));
    if (refused) assert.throws(check, { code: "mapping_parse" });
    else check();
  });
}
