import assert from "node:assert/strict";
import { copyFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Shard } from "#hub/engine/shard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocBatch } from "#proto/messages.ts";
import {
  count,
  hastyClock,
  MemoryLog,
  type Node,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

interface Stored {
  readonly log: MemoryLog;
  readonly bucket: MemoryBucket;
  readonly folder: string;
  /** Of the only shard of index a. */
  readonly shard: string;
  /** Of the only shard of index b. */
  readonly other: string;
}

/** Stores documents 1 to 3 in index a, deletes the first of them, each durable before the next, and some in b. */
async function stored(t: TestContext): Promise<Stored> {
  const [log, bucket, folder] = [new MemoryLog(), new MemoryBucket(), temporaryFolder(t)];
  const node = await openNode(t, log, folder, bucket);
  const definition = { settings: { number_of_shards: 1 }, mappings: {}, aliases: {} };
  for (const name of ["a", "b"]) await node.catalog.create(name, definition);
  const remove = { kind: "delete", index: "a", id: "1" } as const;
  for (const item of [put("1", {}), put("2", {}), put("3", {}), remove]) {
    await node.documents.write([item, put(`b${log.messages.length}`, {}, "b")], options);
    node.host.commit();
  }
  const shardOf = (name: string): string => join(folder, node.catalog.get(name)!.uuid, "0");
  const [shard, other] = [shardOf("a"), shardOf("b")];
  await node.stop();
  return { log, bucket, folder, shard, other };
}

const filesOf = (shard: string, pattern: RegExp): string[] =>
  readdirSync(shard)
    .filter((name) => pattern.test(name))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => join(shard, name));
const MANIFEST = /^manifest-\d+\.json$/;
const SEGMENT = /\.seg$/;

/** What happens to the files while the hub is stopped. */
const DAMAGES: Readonly<Record<string, (files: Stored) => void>> = {
  "the newest manifest is gone": ({ shard }) => rmSync(filesOf(shard, MANIFEST).at(-1)!),
  "the newest manifest is the one before": ({ shard }) => {
    const [before, newest] = filesOf(shard, MANIFEST);
    copyFileSync(before!, newest!);
  },
  "all manifests are gone": ({ shard }) => {
    for (const path of filesOf(shard, MANIFEST)) rmSync(path);
  },
  "a segment is gone": ({ shard }) => rmSync(filesOf(shard, SEGMENT).at(-1)!),
  "the shard's folder is gone": ({ shard }) => rmSync(shard, { recursive: true }),
};

/** Waits until the node has read the log to its end, and returns what index a holds. */
async function contentOf(node: Node): Promise<readonly unknown[]> {
  await node.documents.write([put("barrier", {}, "b")], options);
  await node.host.refresh(node.catalog.all());
  const read = async (id: string) => (await node.documents.get("a", id, {})) !== null;
  return [count(node, "a"), await read("1"), await read("2"), await read("3")];
}

for (const [damage, doIt] of Object.entries(DAMAGES)) {
  test(`${damage}: the shard is read from the log again, also after a crash on the way`, async (t) => {
    const files = await stored(t);
    doIt(files);
    const crashed = await openNode(t, files.log, files.folder, files.bucket);
    assert.match(crashed.host.setBack()?.reason ?? "", /^\[a\]\[0\] lost files/);
    crashed.crash();
    const node = await openNode(t, files.log, files.folder, files.bucket);
    assert.deepEqual(await contentOf(node), [2, false, true, true]);
    assert.equal(node.host.setBack(), null);
    await node.stop();
    const again = await openNode(t, files.log, files.folder, files.bucket);
    assert.equal(again.host.setBack(), null);
    assert.deepEqual(await contentOf(again), [2, false, true, true]);
  });

  test(`${damage}, and the log doesn't reach back: the loss is reported by name`, async (t) => {
    const files = await stored(t);
    doIt(files);
    files.log.purgedTo = files.log.messages.length;
    const node = await openNode(t, files.log, files.folder, files.bucket);
    await contentOf(node);
    const report = node.host.setBack();
    assert.deepEqual(report?.isIncomplete, true);
    assert.match(report?.reason ?? "", /^\[a\]\[0\] lost documents .* restore the index from a snapshot$/);
    await node.catalog.delete(["a"]);
    assert.equal(node.host.setBack(), null);
  });
}

test("a shard that goes back doesn't make durable what others haven't written", async (t) => {
  const files = await stored(t);
  const node = await openNode(t, files.log, files.folder, files.bucket, hastyClock());
  const write = (id: string, index: string) => node.documents.write([put(id, {}, index)], options);
  await write("4", "a");
  await write("b4", "b");
  assert.equal(node.host.commitStep(), undefined);
  const failing = t.mock.method(Shard.prototype, "commit", () => {
    throw new AppError("disk_full", "full");
  });
  assert.throws(() => node.host.commitStep(), { code: "disk_full" });
  failing.mock.restore();
  await write("b5", "b");
  assert.equal(node.host.commitStep(), undefined);
  rmSync(filesOf(files.other, MANIFEST).at(-1)!);
  node.host.reopen(new DocBatch({ indexUuid: node.catalog.get("b")!.uuid, shard: 0 }));
  node.crash();
  const again = await openNode(t, files.log, files.folder, files.bucket);
  await contentOf(again);
  assert.notEqual(await again.documents.get("a", "4", {}), null);
});

test("a segment of another shard isn't read in the place of the own one", async (t) => {
  const files = await stored(t);
  const [own, foreign] = [filesOf(files.shard, SEGMENT), filesOf(files.other, SEGMENT)];
  copyFileSync(foreign.at(-1)!, own.at(-1)!);
  const node = await openNode(t, files.log, files.folder, files.bucket);
  assert.deepEqual(await contentOf(node), [2, false, true, true]);
});

for (const damage of ["gone", "cut"] as const) {
  test(`position.json is ${damage}: nothing is lost or twice`, async (t) => {
    const files = await stored(t);
    const path = join(files.folder, "position.json");
    if (damage === "gone") rmSync(path);
    else copyFileSync(filesOf(files.shard, MANIFEST)[0]!, path);
    const node = await openNode(t, files.log, files.folder, files.bucket);
    assert.deepEqual(await contentOf(node), [2, false, true, true]);
    assert.equal(node.host.setBack(), null);
  });
}
