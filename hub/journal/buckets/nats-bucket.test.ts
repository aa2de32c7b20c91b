import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Journal } from "#hub/journal/journal.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { stateBucketContract } from "#test/contract/state-bucket.ts";
import { openJournal } from "#test/support/journal/external-journal.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

stateBucketContract("MemoryBucket", async () => ({
  bucket: new MemoryBucket(),
  close: async () => undefined,
}));

stateBucketContract("NatsBucket", async () => {
  const { journal, close } = await openJournal();
  return { bucket: await journal.bucket("contract"), close };
});

test("a watch that was cut off yields the changes since then, deletions included", async () => {
  const { journal, nats, close } = await openJournal();
  try {
    const bucket = await journal.bucket("cut");
    await bucket.put("kept", bytes("1"));
    await bucket.put("deleted", bytes("1"));
    const stop = new AbortController();
    const changes = bucket.watch(stop.signal)[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const { value } = await changes.next();
      return `${value!.key}=${value!.value === null ? "gone" : Buffer.from(value!.value).toString()}`;
    };
    assert.deepEqual([await next(), await next()], ["kept=1", "deleted=1"]);
    await nats.kill9();
    const restarting = nats.restart();
    const revision = await bucket.put("kept", bytes("2")); // waits for the server
    await bucket.delete("deleted");
    await restarting;
    assert.deepEqual([await next(), await next()].sort(), ["deleted=gone", "kept=2"]);
    assert.equal((await bucket.get("kept"))?.revision, revision);
    stop.abort();
  } finally {
    await close();
  }
});

test("a watch without changes asks the hub's own server each 10 s, and yields the next change at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-bucket-"));
  const journal = new Journal({
    dataDir: folder,
    host: "127.0.0.1",
    port: 0,
    name: "test",
    maxBytes: 32 * 1024 ** 2,
    log: silentLogger(),
    metrics: new Metrics(),
  });
  await journal.start();
  try {
    const bucket = await journal.bucket("quiet");
    await bucket.put("first", bytes("1"));
    const expiries: number[] = [];
    const asksRarely = Promise.withResolvers<void>();
    journal.core.subscribe("$JS.API.CONSUMER.MSG.NEXT.KV_quiet.*", ({ data }) => {
      const { expires } = JSON.parse(Buffer.from(data).toString()) as { expires: number };
      if (expiries.push(expires / 1e9) === 3) asksRarely.resolve();
    });
    const stop = new AbortController();
    const changes = bucket.watch(stop.signal)[Symbol.asyncIterator]();
    assert.equal((await changes.next()).value?.key, "first");
    const next = changes.next();
    await asksRarely.promise;
    assert.deepEqual(expiries, [2, 2, 10]);
    await bucket.put("second", bytes("2"));
    assert.equal((await next).value?.key, "second");
    assert.equal(expiries.length, 3, "it came by the request that waited");
    stop.abort();
  } finally {
    await journal.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a key that no subject can hold is refused", async () => {
  const { journal, close } = await openJournal();
  try {
    const bucket = await journal.bucket("keys");
    for (const key of ["", "a b", "a*", "a.>", ".a", "a.", "a..b", "x".repeat(513)]) {
      await assert.rejects(bucket.get(key), { code: "request_invalid" }, key);
    }
  } finally {
    await close();
  }
});
