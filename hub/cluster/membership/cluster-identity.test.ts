import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { type ClusterIdentity, openIdentity } from "./cluster-identity.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "identity-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function open(
  bucket: MemoryBucket,
  folder: string,
  given: { readonly clusterName?: string; readonly nodeName?: string; readonly mayRename?: boolean } = {},
): Promise<ClusterIdentity> {
  const { clusterName = "tailrace", nodeName = "hub-1", mayRename = false } = given;
  return openIdentity({ bucket, folder, clusterName, nodeName, mayRename, store: "nats://log" });
}

test("two hubs on one store are two nodes of one cluster, and stay that over restarts", async (t) => {
  const bucket = new MemoryBucket();
  const [one, two] = [folderOf(t), folderOf(t)];
  const first = await open(bucket, one);
  const second = await open(bucket, two, { nodeName: "hub-2" });
  assert.equal(second.cluster, first.cluster);
  assert.notEqual(second.node, first.node);
  assert.equal(second.founder, "hub-1");
  assert.deepEqual(await open(bucket, two, { nodeName: "renamed" }), second);
});

test("a store that was lost gets the identity of the data folder again", async (t) => {
  const folder = folderOf(t);
  const { cluster } = await open(new MemoryBucket(), folder);
  assert.equal((await open(new MemoryBucket(), folder)).cluster, cluster);
});

test("a data folder of another cluster is refused", async (t) => {
  const [folder, bucket] = [folderOf(t), new MemoryBucket()];
  await open(new MemoryBucket(), folder);
  await open(bucket, folderOf(t));
  await assert.rejects(open(bucket, folder), /belongs to another cluster than the NATS at nats:\/\/log/);
});

test("another cluster.name is refused, unless the store is this hub's own", async (t) => {
  const [folder, bucket] = [folderOf(t), new MemoryBucket()];
  await open(bucket, folder);
  await assert.rejects(open(bucket, folder, { clusterName: "other" }), /set cluster\.name to "tailrace"/);
  await open(bucket, folder, { clusterName: "other", mayRename: true });
  await open(bucket, folder, { clusterName: "other" });
});
