import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { silentLogger } from "#proto/kit/log.ts";
import { MINUTE_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { IndexCatalog } from "./index-catalog.ts";
import { DELETED_PREFIX, encodeIndex, type IndexMetadata, indexKey } from "./index-metadata.ts";

const EMPTY = { settings: {}, mappings: {}, aliases: {} };
const WRITTEN = { ...EMPTY, aliases: { app: { is_write_index: true } } };

/** A hub whose index `logs` (uuid `mine`) has lost its name to that of another hub, as the bucket was lost. */
async function losing(t: TestContext, definition = EMPTY) {
  const clock = new StillClock();
  let current = new MemoryBucket();
  const open = async (bucket: MemoryBucket): Promise<IndexCatalog> => {
    const catalog = new IndexCatalog({ bucket, log: silentLogger(), now: () => clock.now(), clock });
    await catalog.start();
    t.after(() => catalog.stop());
    return catalog;
  };
  const get = (_: MemoryBucket, key: keyof MemoryBucket): unknown => current[key].bind(current);
  const catalog = await open(new Proxy(current, { get } as ProxyHandler<MemoryBucket>));
  const mine = await catalog.create("logs", definition);
  await catalog.putMapping("logs", { properties: { late: { type: "long" } } });
  current = new MemoryBucket();
  const other = await open(current);
  await other.create("logs", EMPTY);
  const isBack = async (at: IndexCatalog): Promise<IndexMetadata> => {
    while (at.get("logs")?.uuid !== mine.uuid) await turn();
    return at.get("logs")!;
  };
  return { catalog, other, mine, clock, isBack, bucket: current };
}

test("a repeated deletion doesn't delete the index that the first one brought back", async (t) => {
  const { catalog, other, mine, clock, isBack } = await losing(t);
  const theirs = other.get("logs")!;
  await catalog.reload("logs");
  await catalog.delete(["logs"]);
  const refused = { code: "request_invalid", message: new RegExp(`\\[logs/${mine.uuid}\\] has just got`) };
  await isBack(other);
  for (const hub of [catalog, other]) {
    await assert.rejects(hub.delete(["logs"]), refused);
    await assert.rejects(hub.updateAliases([{ kind: "remove_index", index: "logs" }]), refused);
    await hub.deleteExactly(theirs);
    assert.equal(hub.get("logs")?.uuid, mine.uuid, "a cleanup means another index");
  }
  await clock.advance(5 * MINUTE_MS);
  await catalog.delete(["logs"]);
  assert.equal(catalog.byUuid(mine.uuid), undefined);
});

test("a deletion doesn't touch a new index that another hub has created in the name meanwhile", async (t) => {
  const bucket = new MemoryBucket();
  const log = silentLogger();
  const [one, other] = [
    new IndexCatalog({ bucket, log, now: () => 0 }),
    new IndexCatalog({ bucket, log, now: () => 0 }),
  ];
  for (const catalog of [one, other]) {
    await catalog.start();
    t.after(() => catalog.stop());
  }
  const first = await one.create("logs", EMPTY);
  await other.reload("logs");
  const put = bucket.put.bind(bucket);
  // The other hub deletes the index and creates a new one between the mark and the record.
  bucket.put = async (key, value) => {
    bucket.put = put;
    const revision = await put(key, value);
    await other.deleteExactly(first);
    await other.create("logs", EMPTY);
    return revision;
  };
  const removed: string[] = [];
  const remove = bucket.delete.bind(bucket);
  bucket.delete = async (key, revision) => {
    await remove(key, revision);
    removed.push(key);
  };
  await one.deleteExactly(first);
  assert.deepEqual(removed, [indexKey("logs")], "the other hub's removal alone");
  const second = other.get("logs")!;
  await one.reload("logs");
  assert.notEqual(second.uuid, first.uuid);
  assert.equal(one.get("logs")?.uuid, second.uuid);
});

test("an index that gets its name back leaves the writes to an alias where they go now", async (t) => {
  const { catalog, other, isBack } = await losing(t, WRITTEN);
  await other.create("app-2", WRITTEN);
  for (const name of ["logs", "app-2"]) await catalog.reload(name);
  await catalog.delete(["logs"]);
  await isBack(other);
  for (const hub of [catalog, other]) {
    assert.equal((await hub.ensure("app")).name, "app-2");
    assert.deepEqual(hub.get("logs")?.aliases, { app: {} }, "searches find it");
  }
});

test("an index that gets its name back has no alias that would be ambiguous, or another one's name", async (t) => {
  const { catalog, other, isBack } = await losing(t, { ...EMPTY, aliases: { app: {}, taken: {}, own: {} } });
  await other.create("app-2", { ...EMPTY, aliases: { app: {} } });
  await other.create("taken", EMPTY);
  for (const name of ["logs", "app-2", "taken"]) await catalog.reload(name);
  await catalog.delete(["logs"]);
  assert.deepEqual((await isBack(other)).aliases, { own: {} });
  assert.equal((await catalog.ensure("app")).name, "app-2");
});

test("an index that gets its name back keeps its mapping, where another hub has put back an older one", async (t) => {
  const { catalog, other, mine, isBack, bucket } = await losing(t);
  const theirs = other.get("logs")!;
  await catalog.reload("logs");
  await bucket.put(DELETED_PREFIX + theirs.uuid, Buffer.from("0"));
  await bucket.put(indexKey("logs"), encodeIndex(mine));
  await catalog.reload("logs");
  const isMapped = (at: IndexCatalog): boolean => at.get("logs")?.mapping.field("late") !== undefined;
  assert.ok(isMapped(catalog));
  await isBack(other);
  while (!isMapped(other)) await turn();
  assert.ok(isMapped(catalog));
});
