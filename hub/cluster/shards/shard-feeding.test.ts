import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import { Shard } from "#hub/engine/shard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocBatch } from "#proto/messages.ts";
import {
  count,
  MemoryLog,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { batchOf } from "#test/support/proto/document-batch.ts";

test("after a crash the log is read on from the last commit and nothing is twice", async (t) => {
  const log = new MemoryLog();
  const folder = temporaryFolder(t);
  const bucket = new MemoryBucket();
  const first = await openNode(t, log, folder, bucket);
  await first.documents.write([put("1", { n: 1 }), put("2", { n: 2 })], options);
  first.host.commit();
  await first.documents.write([put("3", { n: 3 }), put("1", { n: 10 })], options);
  first.crash();
  const second = await openNode(t, log, folder, bucket);
  await second.documents.write([put("4", { n: 4 })], options);
  assert.equal(count(second, "a"), 4);
  assert.equal((await second.documents.get("a", "1", {}))?.version, 2);
});

test("documents of the pipeline that are written again are there once", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const sources = [{ key: "agent/8-1-1/0", from: 0, to: 30 }];
  const rows = [0, 10, 20].map((offset) => ({
    index: "logs-a",
    id: `id-${offset}`,
    source: { message: `line ${offset}` },
    offset,
  }));
  const documents = batchOf(rows);
  const origin = { rawIncarnation: 1, partition: 3, rawSequence: 1 };
  await node.sink.write(origin, sources, documents);
  await node.sink.write({ ...origin, rawIncarnation: 2, rawSequence: 1 }, sources, documents);
  await node.documents.write([put("barrier", {}, "logs-a")], options);
  assert.equal(count(node, "logs-a"), 4);
});

test("a document for an index that cannot be is put aside and the rest goes on", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const documents = batchOf([
    { index: "Not Allowed", id: "id-0", source: {} },
    { index: "logs-a", id: "id-1", source: {} },
  ]);
  const origin = { rawIncarnation: 1, partition: 0, rawSequence: 1 };
  await node.sink.write(origin, [], documents);
  await node.documents.write([put("barrier", {}, "logs-a")], options);
  assert.equal(count(node, "logs-a"), 2);
  assert.deepEqual(
    node.dead.map(({ code }) => code),
    ["index_name_invalid"],
  );
});

test("a message that cannot be read is put aside and the following are applied", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  await log.port().publish("doc.0.x.0", Buffer.from([0xff, 0xff, 0xff]), { messageId: "broken" });
  await node.documents.write([put("2", {})], options);
  assert.equal(count(node, "a"), 2);
  assert.equal(node.dead.length, 1);
});

test("an index deleted while messages for it are on their way takes its shards along", async (t) => {
  const folder = temporaryFolder(t);
  const bucket = new MemoryBucket();
  const log = new MemoryLog();
  const node = await openNode(t, log, folder, bucket);
  await node.documents.write([put("1", {})], options);
  await node.catalog.delete(["a"]);
  await node.documents.write([put("1", {}, "b")], options);
  await node.stop();
  const again = await openNode(t, log, folder, bucket);
  assert.deepEqual(
    again.catalog.all().map(({ name }) => name),
    ["b"],
  );
  assert.equal(count(again, "b"), 1);
});

test("a copy takes documents of an index and fields that another hub has just made", async (t) => {
  const [log, bucket] = [new MemoryLog(), new MemoryBucket()];
  const writer = await openNode(t, log, temporaryFolder(t), bucket);
  const other = await openNode(t, log, temporaryFolder(t), new UnwatchedBucket(bucket));
  await writer.documents.write([put("1", { n: 1 })], options);
  await writer.documents.write([put("2", { other: "text" })], options);
  while (other.host.position.sequence < log.messages.length) await setImmediate();
  await other.host.refresh(other.catalog.all());
  assert.equal(count(other, "a"), 2);
  assert.equal(other.catalog.get("a")?.mapping.version, writer.catalog.get("a")?.mapping.version);
});

test("an index whose record the store has lost keeps its documents, and takes new fields", async (t) => {
  const bucket = new MemoryBucket();
  const folder = temporaryFolder(t);
  const node = await openNode(t, new MemoryLog(), folder, bucket);
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const { uuid } = node.catalog.get("a")!;
  bucket.lose();
  await node.documents.write([put("2", { other: "text" })], options);
  assert.equal(node.catalog.get("a")?.uuid, uuid);
  assert.equal(count(node, "a"), 2);
});

test("a full disk fails the commit, loses nothing, and the next commit with space keeps everything", (t) =>
  withoutSpace(t, "ENOSPC"));

test("a disk whose quota is used up fails the commit as a full one does", (t) => withoutSpace(t, "EDQUOT"));

async function withoutSpace(t: TestContext, code: string): Promise<void> {
  const log = new MemoryLog();
  const folder = temporaryFolder(t);
  const bucket = new MemoryBucket();
  const first = await openNode(t, log, folder, bucket);
  await first.documents.write([put("1", { n: 1 })], options);
  const committed = first.host.commit();
  const full = t.mock.method(fs, "writeSync", () => {
    throw Object.assign(new Error(`${code}: write`), { code });
  });
  syncBuiltinESMExports();
  t.after(() => {
    full.mock.restore();
    syncBuiltinESMExports();
  });
  await first.documents.write([put("2", { n: 2 })], options);
  assert.throws(
    () => first.host.commit(),
    (error: AppError) => error.code === "disk_full" && error.message.includes(folder),
  );
  assert.equal(first.host.reopenFailed(), false, "the shard goes on as it is");
  await first.documents.write([put("3", { n: 3 })], options);
  assert.equal(count(first, "a"), 3, "documents are taken and found meanwhile");
  full.mock.restore();
  syncBuiltinESMExports();
  assert.ok(first.host.commit().sequence > committed.sequence);
  first.crash();
  const second = await openNode(t, log, folder, bucket);
  assert.equal(count(second, "a"), 3);
  assert.deepEqual(
    second.host
      .known()
      .doc.map(({ sequence }) => sequence)
      .sort((a, b) => a - b)
      .at(-1),
    log.messages.length,
  );
}

test("a shard that fails in a refresh is reopened and the log read again from its commit", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const failed = Promise.withResolvers<void>();
  t.mock.method(SegmentBuffer.prototype, "seal").mock.mockImplementationOnce(() => {
    failed.resolve();
    throw new Error("a fault in the code");
  });
  await node.documents.write([put("2", { n: 2 })], { ...options, refresh: "false" });
  void node.host.nextRefresh([node.catalog.get("a")!], AbortSignal.timeout(10_000));
  await failed.promise;
  while (count(node, "a") < 2) {
    await node.host.nextRefresh([node.catalog.get("a")!], AbortSignal.timeout(10_000));
  }
  assert.equal((await node.documents.get("a", "2", {}))?.version, 1);
  assert.deepEqual(node.dead, []);
});

test("a message that waits for its index while a shard is reopened doesn't pass what that shard lacks", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  await node.documents.write([put("2", { n: 2 })], { ...options, refresh: "false" });
  const [waits, ready, reopened] = [0, 0, 0].map(() => Promise.withResolvers<void>()) as Deferred[];
  t.mock.method(node.host, "prepare").mock.mockImplementationOnce(() => {
    waits!.resolve();
    return ready!.promise;
  });
  const third = node.documents.write([put("3", { n: 3 })], { ...options, refresh: "false" });
  await waits!.promise;
  const reopen = node.host.reopenFailed.bind(node.host);
  t.mock.method(node.host, "reopenFailed", () => {
    const found = reopen();
    if (found) reopened!.resolve();
    return found;
  });
  t.mock.method(SegmentBuffer.prototype, "seal").mock.mockImplementationOnce(() => {
    throw new Error("a fault in the code");
  });
  const index = [node.catalog.get("a")!];
  void node.host.nextRefresh(index, AbortSignal.timeout(30_000));
  await reopened!.promise;
  ready!.resolve();
  await third;
  await node.host.refresh(index);
  assert.equal(count(node, "a"), 3);
  assert.deepEqual(node.dead, []);
});

test("a message that memory is missing for again and again waits, and is applied once", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const add = t.mock.method(SegmentBuffer.prototype, "addDocument");
  const fail = (): never => {
    throw new AppError("memory_limit", "the buffers are full");
  };
  // At the second document of the message, when the first one is in the buffer.
  for (const call of [1, 3, 5]) add.mock.mockImplementationOnce(fail, call);
  const message = ["2", "3"].map((id) => ({ ...put(id, { n: 2 }), routing: "one shard" }));
  await node.documents.write(message, { ...options, timeoutMs: 30_000 });
  assert.equal(add.mock.callCount(), 8, "three attempts fail, the fourth does not");
  assert.deepEqual(node.dead, []);
  assert.equal(count(node, "a"), 3);
});

test("a disk that can't be read or written for a while puts no message aside", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const add = t.mock.method(SegmentBuffer.prototype, "addDocument");
  const fail = (): never => {
    throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
  };
  for (const call of [1, 3, 5]) add.mock.mockImplementationOnce(fail, call);
  const message = ["2", "3"].map((id) => ({ ...put(id, { n: 2 }), routing: "one shard" }));
  await node.documents.write(message, { ...options, timeoutMs: 30_000 });
  assert.deepEqual(node.dead, []);
  assert.equal(count(node, "a"), 3);
  assert.equal(node.follower.failure, "");
});

test("a shard that can't be opened again for a while is tried again, and puts no message aside", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const add = t.mock.method(SegmentBuffer.prototype, "addDocument");
  const open = t.mock.method(Shard, "open");
  const fail = (): never => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  };
  add.mock.mockImplementationOnce(fail, 0);
  for (const call of [0, 1, 2, 3]) open.mock.mockImplementationOnce(fail, call);
  await node.documents.write([put("2", { n: 2 })], { ...options, timeoutMs: 30_000 });
  assert.deepEqual(node.dead, []);
  assert.equal(open.mock.callCount(), 5);
  await node.host.nextRefresh(node.catalog.all(), AbortSignal.timeout(30_000));
  assert.equal(count(node, "a"), 2);
});

test("a shard that couldn't be opened again says why, and counts as failed", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([{ ...put("1", { n: 1 }), routing: "one" }], options);
  node.host.commit();
  const { uuid } = node.catalog.get("a")!;
  const shard = node.host.stats(node.catalog.get("a")!).find(({ docs }) => docs > 0)!.shard;
  const open = t.mock.method(Shard, "open");
  open.mock.mockImplementationOnce(() => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  });
  const emfile = ({ cause }: { cause?: unknown }): boolean => (cause as { code?: string }).code === "EMFILE";
  assert.throws(() => node.host.reopen(new DocBatch({ indexUuid: uuid, shard })), emfile);
  assert.throws(() => node.host.searcher(node.catalog.get("a")!, shard), emfile);
  assert.equal(node.host.reopenFailed(), true);
  assert.equal(count(node, "a"), 1);
});

type Deferred = PromiseWithResolvers<void>;

/** The entries of another bucket, whose watch is late indefinitely. */
class UnwatchedBucket extends MemoryBucket {
  readonly #inner: MemoryBucket;

  constructor(inner: MemoryBucket) {
    super();
    this.#inner = inner;
  }

  override get(key: string) {
    return this.#inner.get(key);
  }

  override keys(prefix?: string) {
    return this.#inner.keys(prefix);
  }
}

test("an idle shard that is reopened needs nothing from before the last commit, which the log may have purged", async (t) => {
  const log = new MemoryLog();
  const folder = temporaryFolder(t);
  const node = await openNode(t, log, folder);
  await node.documents.write([put("1", {})], options);
  node.host.commit();
  await node.documents.write([put("2", {}, "b"), put("3", {}, "b")], options);
  const committed = node.host.commit();
  await node.documents.write([put("4", {}, "b")], options);
  const { uuid, settings } = node.catalog.get("a")!;
  for (let shard = 0; shard < settings.numberOfShards; shard++)
    node.host.reopen(new DocBatch({ indexUuid: uuid, shard }));
  assert.deepEqual(node.host.position, committed);
  node.follower.reread();
  await node.documents.write([put("5", {}), put("6", {}, "b")], options);
  assert.deepEqual([count(node, "a"), count(node, "b")], [2, 4]);
});
