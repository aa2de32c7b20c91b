import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { MemoryLog, options, put, temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import { openThreadNode, type ThreadNode } from "#test/support/host/thread-node.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const { signal } = new AbortController();

/** Searches all documents of the index a. */
function search({ catalog, shards }: ThreadNode, body: Record<string, unknown> = {}) {
  const targets = [{ uuid: catalog.get("a")!.uuid, typeName: "_doc" }];
  const form = { typedKeys: false, objectTotals: false, useCache: false, nodeId: "" };
  return shards.search({ ...form, targets, body, limits: DEFAULT_LIMITS }, signal);
}

test("a thread indexes, reads and searches, and its commits are there after a restart", async (t) => {
  const [log, folder, bucket] = [new MemoryLog(), temporaryFolder(t), new MemoryBucket()];
  const first = await openThreadNode(t, log, folder, bucket);
  await first.documents.write([put("1", { n: 1 }), put("2", { n: 2, big: 1 })], options);
  assert.equal((await first.documents.get("a", "2", {}))?.version, 1);
  const found = await search(first, { aggs: { sum: { sum: { field: "n" } } }, sort: ["n"], size: 1 });
  assert.equal(found.total, 2);
  assert.match(found.hits.text, /^\[\{"_index":"a","_type":"_doc","_id":"1",.*\}\]$/);
  assert.deepEqual(found.aggregations?.parse(), { sum: { value: 3 } });
  await first.stop();
  assert.equal(first.committed.at(-1)?.sequence, log.messages.length);
  const second = await openThreadNode(t, new MemoryLog(), folder, bucket);
  assert.equal((await search(second)).total, 2);
});

test("errors of a thread keep code, data and causes", async (t) => {
  const node = await openThreadNode(t, new MemoryLog(), temporaryFolder(t), new MemoryBucket());
  await node.documents.write([put("1", { n: 1, text: "a" })], options);
  await assert.rejects(search(node, { query: { foo: {} } }), { code: "parsing" });
  await assert.rejects(search(node, { sort: ["text"] }), (error: { data: Record<string, unknown> }) => {
    const [failure] = error.data["failures"] as { error: Error; index: string }[];
    assert.equal(failure?.index, "a");
    assert.match(failure?.error.message ?? "", /[Ff]ielddata/);
    return true;
  });
});

test("a thread that hears no cancel is ended; it comes back with all documents, and writes wait", async (t) => {
  const log = new MemoryLog();
  const node = await openThreadNode(t, log, temporaryFolder(t), new MemoryBucket());
  await node.documents.write([put("1", { n: 1 })], options);
  const abort = new AbortController();
  const spinning = node.client.call("spin", null, { signal: abort.signal });
  abort.abort();
  const writing = node.documents.write([put("2", { n: 2 })], { ...options, timeoutMs: 30_000 });
  await assert.rejects(spinning, { code: "unavailable" });
  // The second where the machine gives the thread next to nothing of its processors.
  assert.match(node.client.failure, /a spin did not end when it was cancelled|it did not react/);
  const [written] = await writing;
  assert.equal(written !== undefined && "version" in written && written.version, 1);
  assert.equal((await node.documents.get("a", "1", {}))?.version, 1);
  assert.equal((await search(node)).total, 2);
  assert.equal(node.client.failure, "");
  assert.match(await node.metrics.text(), /tailrace_host_restarts_total\{reason="stuck"\} 1/);
});

test("a call whose time is over fails with timeout", async (t) => {
  const node = await openThreadNode(t, new MemoryLog(), temporaryFolder(t), new MemoryBucket());
  const far = { incarnation: 1, sequence: 1_000 };
  await assert.rejects(node.client.call("reach", far, { timeoutMs: 50 }), { code: "timeout" });
});

test("metrics of the thread are printed with those of the process", async (t) => {
  const node = await openThreadNode(t, new MemoryLog(), temporaryFolder(t), new MemoryBucket());
  await node.documents.write([put("1", { n: 1 })], options);
  const text = await node.metrics.text();
  assert.match(text, /tailrace_engine_messages_applied_total [1-9]/);
  for (const part of ["heap", "buffers", "kernel"])
    assert.match(text, new RegExp(`tailrace_host_memory_bytes\\{part="${part}"\\} [1-9]`));
  for (const part of ["merge_kernel", "search_kernel"])
    assert.match(text, new RegExp(`tailrace_host_memory_bytes\\{part="${part}"\\} [0-9]`));
});
