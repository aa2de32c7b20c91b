import assert from "node:assert/strict";
import { test } from "node:test";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { Shard } from "#hub/engine/shard.ts";
import {
  count,
  MemoryLog,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";

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
