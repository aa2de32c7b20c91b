import assert from "node:assert/strict";
import { test } from "node:test";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { Shard } from "#hub/engine/shard.ts";
import { DocBatch } from "#proto/messages.ts";
import {
  count,
  hastyClock,
  MemoryLog,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const UNREFRESHED = { ...options, refresh: "false" } as const;

test("the first search after a pause sees all writes", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 }), put("2", { n: 2 })], UNREFRESHED);
  assert.equal(count(node, "a"), 2);
});

test("a search sees committed documents", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  assert.deepEqual((await node.documents.write([put("1", { n: 1 })], options)).length, 1);
  assert.equal(count(node, "a"), 1);
  await node.documents.write([put("2", { n: 2 })], UNREFRESHED);
  node.host.commit();
  assert.equal(count(node, "a"), 2);
});

test("with a refresh interval, a search sees refreshed documents only", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  await node.catalog.putSettings("a", { refresh_interval: "-1" });
  await node.documents.write([put("2", { n: 2 })], UNREFRESHED);
  node.host.commit();
  node.host.refreshDue();
  assert.equal(count(node, "a"), 1);
  await node.host.refresh([node.catalog.get("a")!]);
  assert.equal(count(node, "a"), 2);
});

test("searches that can't all be opened leave none open", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 }), put("1", {}, "b")], options);
  const index = node.catalog.get("a")!;
  const closed = { ...node.catalog.get("b")!, state: "close" } as const;
  let open = 0;
  const searcherOf = Reflect.get(Shard.prototype, "searcher") as (this: Shard) => Searcher;
  t.mock.method(Shard.prototype, "searcher", function (this: Shard) {
    const made = searcherOf.call(this);
    open++;
    const close = (): void => {
      open--;
      made.close();
    };
    return { ...made, close };
  });
  assert.throws(() => node.host.searchers([index, closed]), { code: "index_closed" });
  assert.equal(open, 0);
  const shards = node.host.searchers([index]);
  assert.equal(open, shards.length);
  for (const each of shards) each.searcher.close();
});

test("a commit in slices covers what was applied before it began; after a crash the rest is read again", async (t) => {
  const [log, folder, bucket] = [new MemoryLog(), temporaryFolder(t), new MemoryBucket()];
  const first = await openNode(t, log, folder, bucket, hastyClock());
  for (const index of ["a", "b", "c"]) await first.documents.write([put("1", {}, index)], UNREFRESHED);
  const begun = first.host.position;
  assert.equal(first.host.commitStep(), undefined);
  await first.documents.write([put("2", {}, "a"), put("2", {}, "b"), put("2", {}, "c")], UNREFRESHED);
  assert.equal(first.host.commitStep(), undefined);
  assert.equal(first.host.commitStep(), undefined);
  assert.deepEqual(first.host.commitStep(), begun);
  assert.equal(first.host.isCommitting, false);
  first.crash();
  const second = await openNode(t, log, folder, bucket);
  assert.deepEqual(second.host.position, begun);
  await second.documents.write([put("barrier", {}, "d")], options);
  for (const index of ["a", "b", "c"]) assert.equal(count(second, index), 2);
});

test("a shard that is reopened during a commit in slices loses nothing", async (t) => {
  const [log, folder, bucket] = [new MemoryLog(), temporaryFolder(t), new MemoryBucket()];
  const first = await openNode(t, log, folder, bucket, hastyClock());
  for (const index of ["a", "b", "c"]) await first.documents.write([put("1", {}, index)], UNREFRESHED);
  assert.equal(first.host.commitStep(), undefined);
  for (const index of ["a", "b", "c"]) {
    const { uuid, settings } = first.catalog.get(index)!;
    for (let shard = 0; shard < settings.numberOfShards; shard++)
      first.host.reopen(new DocBatch({ indexUuid: uuid, shard }));
  }
  while (first.host.commitStep() === undefined);
  first.crash();
  const second = await openNode(t, log, folder, bucket);
  await second.documents.write([put("barrier", {}, "d")], options);
  for (const index of ["a", "b", "c"]) assert.equal(count(second, index), 1);
});

test("refreshes in slices take turns", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t), new MemoryBucket(), hastyClock());
  const indices = ["a", "b", "c"];
  for (const index of indices) await node.documents.write([put("1", {}, index)], options);
  for (const index of indices) await node.catalog.putSettings(index, { refresh_interval: "1ms" });
  for (const index of indices) await node.documents.write([put("2", {}, index)], UNREFRESHED);
  const found = (): number => indices.reduce((sum, index) => sum + count(node, index), 0);
  const before = found();
  for (let refreshed = 1; refreshed <= 3; refreshed++) {
    assert.equal(node.host.refreshDue(), true);
    assert.equal(found(), before + refreshed);
  }
});

test("an index that can't be refreshed doesn't keep others from it", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t), new MemoryBucket(), hastyClock());
  for (const index of ["a", "b"]) await node.documents.write([put("1", {}, index)], options);
  await node.host.refresh(["a", "b"].map((name) => node.catalog.get(name)!));
  const refreshed = new Set<Shard>();
  const broken = new Set<Shard>();
  t.mock.method(Shard.prototype, "refresh", function (this: Shard) {
    if (broken.size === 0) broken.add(this);
    if (broken.has(this)) throw new Error("broken");
    return refreshed.add(this).size > 0;
  });
  assert.throws(() => node.host.refreshDue(), { message: "broken" });
  node.host.refreshDue();
  assert.equal(refreshed.size, node.host.stats(node.catalog.get("b")!).length);
});

test("merges go on between the slices of a commit, and one that fails holds it up once", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", {})], UNREFRESHED);
  let slices = 0;
  const merged: number[] = [];
  t.mock.method(node.host, "mergeStep", () => {
    merged.push(slices);
    if (slices === 2) throw new Error("no merge");
    return true;
  });
  t.mock.getter(node.host, "isCommitting", () => true);
  await new Promise<void>((resolve) => {
    t.mock.method(node.host, "commitStep", () => void (++slices === 4 && resolve()));
  });
  assert.deepEqual(merged, [1, 2]);
});
