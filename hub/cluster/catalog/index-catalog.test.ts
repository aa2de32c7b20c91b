import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { IndexCatalog } from "./index-catalog.ts";
import { COMPOSABLE_PREFIX, encodeName, TEMPLATE_PREFIX } from "./index-metadata.ts";

const EMPTY = { settings: {}, mappings: {}, aliases: {} };

async function openCatalog(
  t: TestContext,
  bucket = new MemoryBucket(),
  clock?: StillClock,
): Promise<IndexCatalog> {
  const now = (): number => 1_700_000_000_000;
  const catalog = new IndexCatalog({ bucket, log: silentLogger(), now, ...(clock && { clock }) });
  await catalog.start();
  t.after(() => catalog.stop());
  return catalog;
}

/** Returns a bucket that is another one whenever `current` is; a watch stays with the first. */
function following(current: () => MemoryBucket): MemoryBucket {
  const get = (_: MemoryBucket, key: keyof MemoryBucket): unknown => current()[key].bind(current());
  return new Proxy(current(), { get } as ProxyHandler<MemoryBucket>);
}

test("an index is created with the defaults of 6.5, and not twice", async (t) => {
  const catalog = await openCatalog(t);
  const index = await catalog.create("a", EMPTY);
  assert.equal(index.settings.numberOfShards, 5);
  assert.equal(index.settings.numberOfReplicas, 1);
  assert.equal(index.uuid.length, 22);
  await assert.rejects(catalog.create("a", EMPTY), { code: "index_exists" });
});

test("an index of the hub's own has one shard and no replica, which a single hub can hold", async (t) => {
  const catalog = await openCatalog(t);
  const { settings } = await catalog.ensure(".tailrace-metrics-2026.01.31");
  assert.deepEqual([settings.numberOfShards, settings.numberOfReplicas], [1, 0]);
});

test("an index without a number of shards gets the catalog's default", async (t) => {
  const options = { bucket: new MemoryBucket(), log: silentLogger(), now: () => 1_700_000_000_000 };
  const catalog = new IndexCatalog({ ...options, defaultShards: 1 });
  await catalog.start();
  t.after(() => catalog.stop());
  assert.equal((await catalog.create("plain", EMPTY)).settings.numberOfShards, 1);
  const explicit = await catalog.create("explicit", { ...EMPTY, settings: { number_of_shards: 3 } });
  assert.equal(explicit.settings.numberOfShards, 3);
});

test("an index of events takes the built-in template, and a template of the user goes over it", async (t) => {
  const catalog = await openCatalog(t);
  const plain = await catalog.ensure("logs-2026.11.21");
  assert.equal(plain.settings.numberOfShards, 1);
  assert.equal(plain.mapping.field("message")?.type, "text");
  await catalog.putTemplate("mine", {
    index_patterns: ["logs-x*"],
    order: 0,
    settings: { number_of_shards: 2 },
    mappings: { properties: { message: { type: "keyword" } } },
    aliases: { all: {} },
  });
  const own = await catalog.ensure("logs-x1");
  assert.equal(own.settings.numberOfShards, 2);
  assert.equal(own.mapping.field("message")?.type, "keyword");
  assert.deepEqual(
    catalog.resolve("all", {}).map(({ name }) => name),
    ["logs-x1"],
  );
});

test("a damaged record keeps no other index from its hub, and is restored from the disk", async (t) => {
  const bucket = new MemoryBucket();
  const before = await openCatalog(t, bucket);
  const index = await before.create("damaged", EMPTY);
  await before.create("whole", EMPTY);
  await before.stop();
  await bucket.put("index/damaged", Buffer.from('{"name":"dama'));
  await bucket.put("template/damaged", Buffer.from("{"));
  const catalog = await openCatalog(t, bucket);
  assert.deepEqual(
    catalog.all().map(({ name }) => name),
    ["whole"],
  );
  assert.equal(await catalog.restore(index), true);
  assert.equal(catalog.get("damaged")?.uuid, index.uuid);
  assert.equal((await openCatalog(t, bucket)).get("damaged")?.uuid, index.uuid);
});

test("two hubs that add fields at the same time lose none", async (t) => {
  const bucket = new MemoryBucket();
  const [one, two] = [await openCatalog(t, bucket), await openCatalog(t, bucket)];
  await one.create("a", EMPTY);
  await two.ensure("a");
  const add = (catalog: IndexCatalog, name: string) =>
    catalog.putMapping("a", { properties: { [name]: { type: "long" } } });
  await Promise.all(
    Array.from({ length: 8 }, (_, number) => add(number % 2 === 0 ? one : two, `f${number}`)),
  );
  const stored = await openCatalog(t, bucket);
  assert.equal([...stored.get("a")!.mapping.fields()].length, 8);
});

test("a change that fails is not visible", async (t) => {
  const catalog = await openCatalog(t);
  await catalog.create("a", EMPTY);
  await catalog.putMapping("a", { properties: { n: { type: "long" } } });
  await assert.rejects(catalog.putMapping("a", { properties: { n: { type: "text" } } }), {
    code: "mapping_conflict",
  });
  assert.equal(catalog.get("a")?.mapping.field("n")?.type, "long");
});

test("a deleted index is gone and its name is free", async (t) => {
  const catalog = await openCatalog(t);
  const first = await catalog.create("a", EMPTY);
  const gone: string[] = [];
  catalog.onChange((index, uuid) => {
    if (index === undefined) gone.push(uuid);
  });
  await catalog.delete(["a"]);
  assert.deepEqual(gone, [first.uuid]);
  assert.notEqual((await catalog.create("a", EMPTY)).uuid, first.uuid);
  await assert.rejects(catalog.delete(["b"]), { code: "index_missing" });
});

test("an index that only the disk remembers comes back, unless it was deleted", async (t) => {
  const before = await openCatalog(t);
  const kept = await before.create("kept", EMPTY);
  const bucket = new MemoryBucket();
  const after = await openCatalog(t, bucket);
  assert.equal(await after.restore(kept), true);
  assert.equal(after.get("kept")?.uuid, kept.uuid);
  await after.delete(["kept"]);
  assert.equal(await after.restore(kept), false);
});

test("an index on the disk isn't given up for another one of its name, unless it was deleted", async (t) => {
  const kept = await (await openCatalog(t)).create("a", EMPTY);
  const foreign = await openCatalog(t, new MemoryBucket());
  await foreign.create("a", EMPTY);
  await assert.rejects(foreign.restore(kept), { code: "data_corrupt", message: /no deletion of the first/ });
  const own = await openCatalog(t, new MemoryBucket());
  const deleted = await own.create("a", EMPTY);
  await own.delete(["a"]);
  await own.create("a", EMPTY);
  assert.equal(await own.restore(deleted), false);
});

test("an older mapping in the bucket gives way to the one of the disk", async (t) => {
  const bucket = new MemoryBucket();
  const catalog = await openCatalog(t, bucket);
  const old = await catalog.create("a", EMPTY);
  const newer = { ...old, mapping: old.mapping.merge({ properties: { n: { type: "long" } } }) };
  assert.equal(await catalog.restore(newer), true);
  assert.equal(catalog.get("a")?.mapping.field("n")?.type, "long");
});

test("hubs put back what the bucket has lost, and follow each other's changes of it", async (t) => {
  const bucket = new MemoryBucket();
  const [one, two] = [await openCatalog(t, bucket), await openCatalog(t, bucket)];
  const { uuid } = await one.create("a", EMPTY);
  const second = await one.create("b", EMPTY);
  while (two.all().length < 2) await setImmediate();
  const gone: string[] = [];
  for (const catalog of [one, two])
    catalog.onChange((index, each) => void (index === undefined && gone.push(each)));
  bucket.lose();
  await one.putMapping("a", { properties: { n: { type: "long" } } });
  await two.putMapping("a", { properties: { m: { type: "long" } } });
  while (one.get("a")?.mapping.field("m") === undefined) await setImmediate();
  assert.deepEqual([one.get("a")?.uuid, two.get("a")?.uuid], [uuid, uuid]);
  assert.equal(two.get("a")?.mapping.field("n")?.type, "long");
  await two.setState("b", "close");
  while (one.get("b")?.state !== "close") await setImmediate();
  assert.deepEqual(gone, []);
  await two.delete(["b"]);
  while (gone.length < 2) await setImmediate();
  assert.deepEqual(gone, [second.uuid, second.uuid]);
});

test("all indices are put back as soon as one is found missing", async (t) => {
  const old = new MemoryBucket();
  let current = old;
  const catalog = await openCatalog(
    t,
    following(() => current),
  );
  await catalog.create("a", EMPTY);
  const { uuid } = await catalog.create("b", EMPTY);
  current = new MemoryBucket();
  await catalog.putMapping("a", { properties: { n: { type: "long" } } });
  while ((await current.get("index/b")) === null) await setImmediate();
  assert.equal((await openCatalog(t, current)).get("b")?.uuid, uuid);
});

test("an index that can't be read when all are compared is compared again until it can", async (t) => {
  const clock = new StillClock();
  let current = new MemoryBucket();
  const bucket = following(() => current);
  const catalog = await openCatalog(t, bucket, clock);
  for (const name of ["a", "b", "c"]) await catalog.create(name, EMPTY);
  current = new MemoryBucket();
  const get = current.get.bind(current);
  let failures = 0;
  current.get = (key) => {
    if (key !== "index/b" || failures === 3) return get(key);
    failures++;
    return Promise.reject(new AppError("timeout", "no leader"));
  };
  await catalog.putMapping("a", { properties: { n: { type: "long" } } });
  while ((await get("index/c")) === null) await setImmediate();
  assert.deepEqual([await get("index/b"), failures], [null, 1]);
  while ((await get("index/b")) === null) await clock.advance(1_000);
  assert.equal(failures, 3);
});

test("a further loss is compared at once, while an index that can't be read waits to be compared again", async (t) => {
  const clock = new StillClock();
  let current = new MemoryBucket();
  const bucket = following(() => current);
  const catalog = await openCatalog(t, bucket, clock);
  for (const name of ["a", "b", "c"]) await catalog.create(name, EMPTY);
  for (const type of ["long", "keyword"]) {
    current = new MemoryBucket();
    const get = current.get.bind(current);
    const stuck = Promise.withResolvers<void>();
    current.get = (key) => {
      if (key !== "index/b") return get(key);
      stuck.resolve();
      return Promise.reject(new AppError("timeout", "no leader"));
    };
    await catalog.putMapping("a", { properties: { [type]: { type } } });
    for (let turns = 0; turns < 200 && (await get("index/c")) === null; turns++) await setImmediate();
    assert.notEqual(await get("index/c"), null, "without a pause");
    await stuck.promise;
    for (let pause = 0; pause < 9; pause++) await clock.advance(1_000);
  }
});

for (const [revision, records] of [
  ["lower", 0],
  ["equal", 1],
  ["higher", 9],
] as const)
  test(`an index that lost its name to one of a revision that is ${revision} keeps its documents`, async (t) => {
    let current = new MemoryBucket();
    const catalog = await openCatalog(
      t,
      following(() => current),
    );
    await catalog.create("first", EMPTY);
    const mine = await catalog.create("logs", EMPTY);
    const gone: string[] = [];
    catalog.onChange((index, uuid) => void (index === undefined && gone.push(uuid)));
    current = new MemoryBucket();
    for (let each = 0; each < records; each++) await current.put(`other/${each}`, Buffer.from("{}"));
    const other = await openCatalog(t, current);
    const theirs = await other.create("logs", EMPTY);
    await catalog.reload("logs");
    assert.equal(catalog.get("logs")?.uuid, theirs.uuid);
    assert.equal(catalog.byUuid(mine.uuid)?.uuid, mine.uuid);
    assert.deepEqual(
      catalog.withoutName().map(({ uuid }) => uuid),
      [mine.uuid],
    );
    await other.delete(["logs"]);
    await catalog.reload("logs");
    assert.deepEqual(gone, [theirs.uuid]);
    assert.equal(catalog.byUuid(mine.uuid)?.uuid, mine.uuid);
    // It takes its name again, on every hub; deleted, it is gone.
    assert.equal(catalog.get("logs")?.uuid, mine.uuid);
    assert.deepEqual(catalog.withoutName(), []);
    while (other.get("logs")?.uuid !== mine.uuid) await setImmediate();
    await catalog.deleteExactly(mine);
    assert.deepEqual([gone, catalog.get("logs")], [[theirs.uuid, mine.uuid], undefined]);
  });

test("a record that is damaged or removed without a mark while hubs run is put back", async (t) => {
  const bucket = new MemoryBucket();
  const catalog = await openCatalog(t, bucket);
  const { uuid } = await catalog.create("a", EMPTY);
  const gone: string[] = [];
  catalog.onChange((index, each) => void (index === undefined && gone.push(each)));
  for (const harm of [() => bucket.put("index/a", Buffer.from("{")), () => bucket.delete("index/a")]) {
    await harm();
    const isBack = async (): Promise<boolean> => {
      const entry = await bucket.get("index/a");
      return entry !== null && entry.value.length > 1;
    };
    while (!(await isBack())) await setImmediate();
  }
  assert.equal(catalog.get("a")?.uuid, uuid);
  assert.deepEqual(gone, []);
});

test("a template that is put after the bucket was lost has effect", async (t) => {
  const bucket = new MemoryBucket();
  const catalog = await openCatalog(t, bucket);
  const template = { index_patterns: ["x*"], order: 0, ...EMPTY };
  for (const order of [0, 1, 2]) await catalog.putTemplate("mine", { ...template, order });
  bucket.lose();
  await catalog.putTemplate("mine", { ...template, order: 7 });
  assert.equal(catalog.templates()["mine"]?.order, 7);
});

test("an alias of several indices is written to only where one is marked", async (t) => {
  const catalog = await openCatalog(t);
  for (const name of ["a", "b"]) await catalog.create(name, { ...EMPTY, aliases: { both: {} } });
  await assert.rejects(catalog.ensure("both"), {
    code: "request_invalid",
    message: /^no write index is defined for alias \[both\]\./,
  });
  await catalog.updateAliases([{ kind: "add", index: "b", alias: "both", info: { is_write_index: true } }]);
  assert.equal((await catalog.ensure("both")).name, "b");
  await catalog.updateAliases([{ kind: "remove", index: "b", alias: "both" }]);
  assert.equal((await catalog.ensure("both")).name, "a");
});

test("a fixed setting of an open index is refused by its name, the number of replicas is taken", async (t) => {
  const catalog = await openCatalog(t);
  await catalog.create("a", EMPTY);
  await assert.rejects(catalog.putSettings("a", { number_of_shards: 3 }), {
    code: "settings_invalid",
    message: /Can't update non dynamic settings \[\[index\.number_of_shards\]\]/,
  });
  for (const wrong of ["1-0", "all", "-1", 3])
    await assert.rejects(catalog.putSettings("a", { auto_expand_replicas: wrong }), {
      code: "settings_invalid",
    });
  await catalog.putSettings("a", { number_of_replicas: "0", refresh_interval: "5s" });
  assert.equal(catalog.get("a")?.settings.numberOfReplicas, 0);
  assert.equal(catalog.get("a")?.settings.raw["refresh_interval"], "5s");
});

test("a number of replicas ends the range that lines have by themselves, and the range ends no number", async (t) => {
  const catalog = await openCatalog(t);
  const replicasOf = (name: string): unknown[] => {
    const { numberOfReplicas, raw } = catalog.get(name)!.settings;
    return [numberOfReplicas, raw["auto_expand_replicas"]];
  };
  await catalog.create("logs-a", EMPTY);
  assert.deepEqual(replicasOf("logs-a"), [0, "0-1"]);
  await catalog.expand("logs-a", 1);
  assert.deepEqual(replicasOf("logs-a"), [1, "0-1"]);
  await catalog.putSettings("logs-a", { number_of_replicas: 2 });
  await catalog.expand("logs-a", 1);
  assert.deepEqual(replicasOf("logs-a"), [2, undefined]);
  await catalog.putSettings("logs-a", { number_of_replicas: 0, auto_expand_replicas: "0-all" });
  assert.deepEqual(replicasOf("logs-a"), [0, "0-all"]);
  await catalog.create("logs-b", { ...EMPTY, settings: { number_of_replicas: 0 } });
  assert.deepEqual(replicasOf("logs-b"), [0, undefined]);
  const template = {
    index_patterns: ["logs-c"],
    composed_of: [],
    template: { settings: { number_of_replicas: 3 } },
  };
  await catalog.templateCatalog.putComposable("c", template);
  assert.deepEqual(replicasOf((await catalog.ensure("logs-c")).name), [3, undefined]);
});

test("settings of which no index could be made are refused in a template, and do no harm in an older one", async (t) => {
  const bucket = new MemoryBucket();
  const older = { index_patterns: ["old*"], order: 0, ...EMPTY, settings: { auto_expand_replicas: "yes" } };
  await bucket.put(TEMPLATE_PREFIX + encodeName("older"), Buffer.from(JSON.stringify(older)));
  const catalog = await openCatalog(t, bucket);
  const { templateCatalog } = catalog;
  const refused = { code: "settings_invalid" };
  for (const settings of [
    { auto_expand_replicas: "yes" },
    { "lifecycle.origination_date": "2020-01-01" },
    { number_of_replicas: "-1" },
    { number_of_shards: 0 },
  ]) {
    await assert.rejects(catalog.putTemplate("t", { ...older, index_patterns: ["t*"], settings }), refused);
    const template = { settings };
    await assert.rejects(templateCatalog.putComponent("t", { template }), refused);
    const composable = { index_patterns: ["t*"], composed_of: [], template };
    await assert.rejects(templateCatalog.putComposable("t", composable), refused);
    await assert.rejects(catalog.create("t", { ...EMPTY, settings }), refused);
  }
  assert.equal((await catalog.ensure("t")).settings.numberOfReplicas, 1);
  assert.equal((await catalog.ensure("old")).settings.numberOfReplicas, 1);
  await catalog.putTemplate("t", { ...older, settings: { auto_expand_replicas: "0-1" } });
});

test("names of metadata are refused in new mappings, and taken over from stored templates and indices", async (t) => {
  const bucket = new MemoryBucket();
  const mappings = { properties: { _id: { type: "keyword" } } };
  const older = { ...EMPTY, index_patterns: ["old*"], order: 0, mappings };
  await bucket.put(TEMPLATE_PREFIX + encodeName("older"), Buffer.from(JSON.stringify(older)));
  const composable = { index_patterns: ["new*"], composed_of: [], template: { mappings } };
  await bucket.put(COMPOSABLE_PREFIX + encodeName("composable"), Buffer.from(JSON.stringify(composable)));
  const catalog = await openCatalog(t, bucket);
  for (const name of ["old", "new"]) {
    const made = await catalog.ensure(name);
    assert.equal(made.mapping.field("_id")?.type, "keyword");
    const copy = await catalog.createExact(`${name}-copy`, { ...EMPTY, mappings: made.mapping.toJSON() });
    assert.equal(copy.mapping.field("_id")?.type, "keyword");
  }
  const { templateCatalog } = catalog;
  const refused = { code: "mapping_conflict", message: "Field [_id] is defined twice in [_doc]" };
  for (const given of [mappings, { properties: { "_id.x": { type: "keyword" } } }]) {
    const template = { mappings: given };
    await assert.rejects(catalog.create("t", { ...EMPTY, mappings: given }), refused);
    await assert.rejects(catalog.create("old-t", { ...EMPTY, mappings: given }), refused);
    await assert.rejects(catalog.putTemplate("t", { ...older, mappings: given }), refused);
    await assert.rejects(templateCatalog.putComponent("t", { template }), refused);
    await assert.rejects(
      templateCatalog.putComposable("t", { ...composable, priority: 1, template }),
      refused,
    );
  }
});

test("an index is replaced by one of another definition, unless that is refused", async (t) => {
  const catalog = await openCatalog(t, new MemoryBucket());
  const before = await catalog.create("logs", EMPTY);
  const wrong = { ...EMPTY, settings: { number_of_shards: 0 } };
  await assert.rejects(catalog.replaceExact(before, wrong), { code: "settings_invalid" });
  assert.equal(catalog.get("logs"), before);
  const after = await catalog.replaceExact(before, { ...EMPTY, settings: { number_of_shards: 2 } });
  assert.notEqual(after.uuid, before.uuid);
  assert.deepEqual(catalog.all(), [after]);
});
