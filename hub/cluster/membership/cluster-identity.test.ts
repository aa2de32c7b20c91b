import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AppError } from "#proto/kit/errors.ts";
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

test("no changed bit of the data folder's identity makes another one of it", async (t) => {
  const [folder, bucket] = [folderOf(t), new MemoryBucket()];
  const identity = await open(bucket, folder);
  const path = join(folder, "cluster.json");
  const whole = readFileSync(path);
  for (let bit = 0; bit < 8 * whole.length; bit++) {
    const bytes = Buffer.from(whole);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(path, bytes);
    const found = await open(bucket, folder).catch((error: AppError) => error);
    if (found instanceof Error) assert.match(found.message, /cluster\.json can't be read: remove it/);
    else assert.deepEqual(found, identity, bytes.toString("latin1"));
  }
});

test("a file of a version without a check is read, and gets one", async (t) => {
  const [folder, bucket] = [folderOf(t), new MemoryBucket()];
  const { cluster, node } = await open(bucket, folder);
  const path = join(folder, "cluster.json");
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, `${JSON.stringify({ version: 1, cluster, node })}\n`);
  assert.equal((await open(bucket, folder)).node, node);
  assert.equal(readFileSync(path, "utf8"), whole);
});
