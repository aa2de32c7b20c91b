import assert from "node:assert/strict";
import { after, test } from "node:test";
import { actionCode, type DocumentBatch, idsOf } from "#proto/document-batch.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import {
  count,
  MemoryLog,
  openNode,
  options,
  put,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { encodeAppends } from "./append-encoder.ts";
import type { AppendRun, LentBody } from "./append-run.ts";
import { BodyThreads } from "./body-threads.ts";

const ACTION = '{"index":{}}\n';

/** One for all tests: its thread takes longer to start than a test with it. */
const threads = new BodyThreads({ log: silentLogger(), metrics: new Metrics(), count: 1 });
after(() => threads.stop());

/** The documents of a bulk request, with action lines between them. */
function runOf(index: string, documents: readonly string[]): DocumentBatch {
  const bytes = Buffer.from(documents.map((document) => `${ACTION}${document}\n`).join(""));
  let end = -1;
  const ends = Uint32Array.from(documents, (document) => {
    end += 1 + ACTION.length + Buffer.byteLength(document);
    return end;
  });
  const actions = new Uint8Array(documents.length).fill(actionCode("index"));
  return { bytes, start: ACTION.length, ends, gap: 1 + ACTION.length, indexNames: [index], actions };
}

test("new documents in a run of bytes get ids of one shard", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const documents = Array.from({ length: 60 }, (_, number) => `{"number":${number},"text":"é ${number}"}`);
  const result = await node.documents.append(runOf("a", documents), options);
  assert.equal(result!.index, "a");
  const ids = idsOf({ ...result!, ends: result!.idEnds });
  assert.equal(new Set(ids).size, 60);
  assert.equal(result!.failures.size, 0);
  assert.equal(log.messages.length, 1);
  assert.equal(count(node, "a"), 60);
  for (const place of [0, 31, 59]) {
    const found = await node.documents.get("a", ids[place]!, {});
    assert.equal(Buffer.from(found!.source).toString(), documents[place]);
    assert.equal(found!.seqNo, result!.seqNos[place]);
  }
});

test("of a run of documents those fail that don't fit the mapping", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  const result = await node.documents.append(runOf("a", ['{"n":2}', '{"n":"no"}', '{"n":3}']), options);
  const codes = [0, 1, 2].map((place) => result!.failures.get(place)?.code ?? "in");
  assert.deepEqual(codes, ["in", "mapping_parse", "in"]);
  assert.equal(count(node, "a"), 3);
});

test("a run that the log took late waits for its shard no longer than its time", {
  timeout: 30_000,
}, async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  await node.follower.stop();
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  t.mock.method(performance, "now", () => now() + aheadMs);
  log.beforePublish = async () => void (aheadMs += options.timeoutMs);
  const result = await node.documents.append(runOf("a", ['{"n":2}']), { ...options, refresh: "false" });
  assert.equal(result!.failures.get(0)?.code, "timeout");
});

test("a run for an index that can't be is left to those who write one by one", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  assert.equal(await node.documents.append(runOf("Bad Name", ["{}"]), options), null);
  assert.equal(log.messages.length, 0);
});

/** A run whose bytes a thread has. */
async function lentRun(index: string, documents: readonly string[]): Promise<AppendRun> {
  const run = runOf(index, documents);
  const body = threads.lend(Buffer.from(run.bytes));
  const scan = { kind: "scan", lineBytes: ACTION.length, from: 0 } as const;
  const { shapes, samples } = (await body.run(scan, options.signal))!;
  return { ...run, bytes: new Uint8Array(), shapes, lent: { body, samples } };
}

test("a run that a thread has gets in with new fields mapped, and each document's answer", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const documents = Array.from({ length: 6_000 }, (_, n) =>
    n % 2 === 0 ? `{"n":${n}}` : `{"text":"é ${n}"}`,
  );
  const run = await lentRun("a", documents);
  const result = (await node.documents.append(run, options))!;
  assert.deepEqual([result.failures.size, log.messages.length, count(node, "a")], [0, 2, 6_000]);
  assert.deepEqual(Object.keys(node.catalog.get("a")!.mapping.toJSON()["properties"]!), ["n", "text"]);
  const ids = idsOf({ ...result, ends: result.idEnds });
  for (const place of [0, 4_999, 5_999]) {
    const found = await node.documents.get("a", ids[place]!, {});
    assert.equal(Buffer.from(found!.source).toString(), documents[place]);
  }
  const failing = await lentRun("a", ['{"n":2}', '{"n":"no"}', '{"n":3}']);
  const failed = (await node.documents.append(failing, options))!.failures;
  assert.deepEqual(
    [...failed].map(([place, { code }]) => [place, code]),
    [[1, "mapping_parse"]],
  );
});

/** A run of documents with ids whose bytes a thread has. */
async function keyedRun(
  index: string,
  documents: readonly (readonly [id: string, json: string])[],
): Promise<AppendRun> {
  const lines = documents.map(([id, json]) => `{"index":{"_id":"${id}"}}\n${json}\n`);
  const from = '{"index":{"_id":"'.length;
  const id = { from, to: from + documents[0]![0].length };
  const body = threads.lend(Buffer.from(lines.join("")));
  const scan = { kind: "scan", lineBytes: lines[0]!.indexOf("\n") + 1, id, from: 0 } as const;
  const { ends, shapes, samples, keys } = (await body.run(scan, options.signal))!;
  const actions = new Uint8Array(ends.length).fill(actionCode("index"));
  const columns = { start: 0, gap: 0, ends, shapes, actions, ...keys! };
  return { ...columns, bytes: new Uint8Array(), indexNames: [index], lent: { body, samples } };
}

test("documents of a run with ids replace each other in their order, each in the shard of its id", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.catalog.create("a", { settings: { number_of_shards: 3 }, mappings: {}, aliases: {} });
  const documents = Array.from({ length: 12_000 }, (_, n) => [`${n % 5_500}`, `{"n":${n}}`] as const);
  const { outcomes, versions, seqNos, failures } = (await node.documents.append(
    await keyedRun("a", documents),
    options,
  ))!;
  assert.deepEqual([failures.size, count(node, "a")], [0, 5_500]);
  for (const [place, [id]] of documents.entries()) {
    const version = 1 + Math.floor(place / 5_500);
    assert.deepEqual([outcomes[place], versions[place]], [version === 1 ? 0 : 1, version], id);
  }
  for (const last of [11_000, 11_999, 10_999]) {
    const [id, json] = documents[last]!;
    const found = (await node.documents.get("a", id, {}))!;
    assert.deepEqual([Buffer.from(found.source).toString(), found.seqNo], [json, seqNos[last]]);
  }
});

test("of a run with ids whose hub is killed in the middle the messages in the log are applied once, in their order", async (t) => {
  const log = new MemoryLog();
  const folder = temporaryFolder(t);
  const bucket = new MemoryBucket();
  const node = await openNode(t, log, folder, bucket);
  await node.catalog.create("a", { settings: { number_of_shards: 1 }, mappings: {}, aliases: {} });
  const documents = Array.from({ length: 12_000 }, (_, n) => [`${n % 3_000}`, `{"n":${n}}`] as const);
  log.beforePublish = async () => {
    if (log.messages.length < 2) return;
    node.crash();
    throw new AppError("unavailable", "killed");
  };
  const run = await keyedRun("a", documents);
  const { failures } = (await node.documents.append(run, {
    ...options,
    refresh: "false",
    timeoutMs: 1_000,
  }))!;
  // Of 5,000 documents each: two messages are in, and nobody may have heard of them.
  assert.ok(failures.size >= 2_000);
  assert.equal(log.messages.length, 2);
  log.beforePublish = async () => undefined;
  const next = await openNode(t, log, folder, bucket);
  await next.documents.write([put("end", { n: 0 })], options);
  assert.equal(count(next, "a"), 3_001);
  for (const [id, version, n] of [
    ["0", 4, 9_000],
    ["999", 4, 9_999],
    ["1000", 3, 7_000],
  ] as const) {
    const found = (await next.documents.get("a", id, {}))!;
    assert.deepEqual([found.version, Buffer.from(found.source).toString()], [version, `{"n":${n}}`]);
  }
});

test("a run that a thread has is left to those who have it here where its documents must be looked at", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const mappings = { properties: { steps: { type: "nested" } } };
  await node.catalog.create("nested", { settings: {}, mappings, aliases: {} });
  const nested = await lentRun("nested", ['{"steps":[{"a":1}]}']);
  assert.equal(await node.documents.append(nested, options), null);
  const { lent, ...run } = await lentRun("b", ['{"a":1}']);
  const withoutSamples = { ...run, lent: { ...lent!, samples: new Map<number, Uint8Array>() } };
  assert.equal(await node.documents.append(withoutSamples, options), null);
  assert.equal(log.messages.length, 0);
});

test("where the thread that has a run is lost nothing of it is written", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const { lent, ...run } = await lentRun("a", ['{"a":1}']);
  const lost = new AppError("unavailable", "lost");
  const body = { ...lent!.body, run: () => Promise.reject(lost) };
  await assert.rejects(node.documents.append({ ...run, lent: { ...lent!, body } }, options), lost);
  assert.equal(log.messages.length, 0);
});

test("a run with ids isn't written as new documents", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const documents = [
    ["1", "{}"],
    ["2", "{}"],
  ] as const;
  const { actions: _actions, ...withoutActions } = await keyedRun("a", documents);
  const internal = { code: "internal" };
  await assert.rejects(node.documents.append(withoutActions, options), internal);
  const { idEnds: _idEnds, ...withoutEnds } = await keyedRun("a", documents);
  await assert.rejects(node.documents.append(withoutEnds, options), internal);
  assert.throws(() => encodeAppends(new Uint8Array(), withoutEnds), internal);
  assert.equal(log.messages.length, 0);
});

test("a run whose index is deleted or closed while a thread packs it isn't written", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const { catalog, documents } = node;
  const none = { settings: {}, mappings: {}, aliases: {} };
  const changes = {
    replaced: async () => {
      await catalog.delete(["replaced"]);
      await catalog.create("replaced", none);
    },
    deleted: () => catalog.delete(["deleted"]),
    closed: () => catalog.setState("closed", "close"),
  };
  for (const [name, change] of Object.entries(changes)) {
    await catalog.create(name, none);
    const { lent, ...run } = await keyedRun(name, [["1", "{}"]]);
    const body: LentBody = {
      ...lent!.body,
      run: async (job, signal) => {
        const messages = await lent!.body.run(job, signal);
        await change();
        return messages;
      },
    };
    assert.equal(await documents.append({ ...run, lent: { ...lent!, body } }, options), null, name);
  }
  assert.equal(log.messages.length, 0);
});
