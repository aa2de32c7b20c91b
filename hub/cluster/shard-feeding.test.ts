import assert from "node:assert/strict";
import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SegmentBuffer } from "#hub/engine/segment/segment-buffer.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#proto/kit/memory-bucket.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { DocumentSink } from "./document-sink.ts";
import { Documents } from "./documents.ts";
import { IndexCatalog } from "./index-catalog.ts";
import { type DocMessage, LogFollower } from "./log-follower.ts";
import type { LogPort } from "./log-port.ts";
import { ShardHost } from "./shard-host.ts";
import type { WriteItem } from "./writes.ts";

/** DOC in memory: as much of a log as the cluster asks for. */
class MemoryLog {
  readonly messages: DocMessage[] = [];
  readonly #ids = new Map<string, number>();
  readonly #subscriptions = new Map<string, (data: Uint8Array, subject: string) => void>();
  #grown = Promise.withResolvers<void>();
  /** What happens before a message is stored. */
  beforePublish: (signal: AbortSignal | undefined) => Promise<void> = async () => undefined;

  port(): LogPort {
    return {
      publish: async (_subject, data, { messageId, signal }) => {
        await this.beforePublish(signal);
        const known = this.#ids.get(messageId);
        if (known !== undefined) return { sequence: known };
        const sequence = this.messages.length + 1;
        this.#ids.set(messageId, sequence);
        this.messages.push({ position: { incarnation: 1, sequence }, data });
        this.#grown.resolve();
        this.#grown = Promise.withResolvers();
        return { sequence };
      },
      send: (subject, data) => this.#subscriptions.get(subject.replace(/[^.]+$/, "*"))?.(data, subject),
      subscribe: (subject, handler) => {
        this.#subscriptions.set(subject, (data, from) =>
          handler({ subject: from, data, respond: () => undefined }),
        );
        return () => this.#subscriptions.delete(subject);
      },
    };
  }

  async *read(after: Position, signal: AbortSignal): AsyncIterable<DocMessage> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    for (let at = after.sequence; !signal.aborted; ) {
      const message = this.messages[at];
      if (message === undefined) await Promise.race([this.#grown.promise, aborted]);
      else {
        at++;
        yield message;
      }
    }
  }
}

interface Node {
  readonly catalog: IndexCatalog;
  readonly host: ShardHost;
  readonly documents: Documents;
  readonly sink: DocumentSink;
  readonly dead: AppError[];
  stop(): Promise<void>;
  /** Leaves everything as a killed process would. */
  crash(): void;
}

async function openNode(
  t: TestContext,
  log: MemoryLog,
  folder: string,
  bucket = new MemoryBucket(),
): Promise<Node> {
  const logger = silentLogger();
  const metrics = new Metrics();
  const dead: AppError[] = [];
  const catalog = new IndexCatalog({ bucket, log: logger, now: Date.now });
  await catalog.start();
  const host = new ShardHost({ folder, catalog, log: logger });
  await host.open();
  const port = log.port();
  const documents = new Documents({ log: port, catalog, shards: host, now: Date.now });
  documents.start();
  const follower = new LogFollower({
    host,
    log: logger,
    metrics,
    clock: systemClock,
    read: (after, signal) => log.read(after, signal),
    oldest: async () => ({ incarnation: 1, sequence: 0 }),
    reply: (subject, data) => port.send(subject, data),
    deadLetter: async (_message, reason) => void dead.push(reason),
    onCommitted: () => undefined,
  });
  await follower.start();
  const sink = new DocumentSink({
    log: port,
    catalog,
    metrics,
    now: Date.now,
    positionOf: (sequence) => ({ incarnation: 1, sequence }),
    last: { incarnation: 1, sequence: 0 },
    refuse: async ({ error }) => void dead.push(error),
  });
  let running = true;
  const stop = async (): Promise<void> => {
    if (!running) return;
    running = false;
    await follower.stop();
    documents.stop();
    host.close();
    await catalog.stop();
  };
  const crash = (): void => {
    running = false;
    host.commit = () => host.position;
    void follower.stop();
    host.close();
    void catalog.stop();
  };
  atEnd(t, stop);
  return { catalog, host, documents, sink, dead, stop, crash };
}

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs at the end of the test, last given first. */
function atEnd(t: TestContext, cleanup: () => unknown): void {
  let list = cleanups.get(t);
  if (list === undefined) {
    const mine: (() => unknown)[] = [];
    list = mine;
    cleanups.set(t, mine);
    t.after(async () => {
      for (const each of mine.reverse()) await each();
    });
  }
  list.push(cleanup);
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "cluster-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const options = { refresh: "true", timeoutMs: 5_000, signal: new AbortController().signal } as const;
const put = (id: string, source: unknown, index = "a"): WriteItem => ({
  kind: "index",
  index,
  id,
  source: Buffer.from(JSON.stringify(source)),
});

function count(node: Node, index: string): number {
  const searchers = node.host.searchers([node.catalog.get(index)!]);
  const total = searchers.reduce((sum, { searcher }) => sum + searcher.totalDocs, 0);
  for (const { searcher } of searchers) searcher.close();
  return total;
}

test("documents written over several shards come back by id with version and sequence number", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const items = Array.from({ length: 40 }, (_, number) => put(String(number), { number }));
  const results = await node.documents.write(items, options);
  assert.ok(
    results.every((result) => "result" in result && result.result === "created" && result.version === 1),
  );
  assert.equal(count(node, "a"), 40);
  const again = await node.documents.write([put("7", { number: 70 })], options);
  assert.equal("version" in again[0]! && again[0].version, 2);
  const found = await node.documents.get("a", "7", {});
  assert.deepEqual(JSON.parse(Buffer.from(found!.source).toString()), { number: 70 });
  assert.equal(await node.documents.get("a", "none", {}), null);
});

/** The documents of a bulk request, behind each other. */
function runOf(index: string, documents: readonly string[]) {
  const starts = new Int32Array(documents.length);
  const stops = new Int32Array(documents.length);
  const bytes = Buffer.from(`${documents.join("\n")}\n`);
  let at = 0;
  for (const [place, document] of documents.entries()) {
    starts[place] = at;
    stops[place] = at + Buffer.byteLength(document);
    at = stops[place] + 1;
  }
  return { index, bytes, starts, stops };
}

test("new documents in a run of bytes get ids and are spread over the shards", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const documents = Array.from({ length: 60 }, (_, number) => `{"number":${number},"text":"é ${number}"}`);
  const result = await node.documents.append(runOf("a", documents), options);
  assert.equal(result!.index, "a");
  assert.equal(new Set(result!.ids).size, 60);
  assert.ok(result!.outcomes.every((outcome) => typeof outcome === "number"));
  assert.equal(log.messages.length, node.catalog.get("a")!.settings.numberOfShards);
  assert.equal(count(node, "a"), 60);
  for (const place of [0, 31, 59]) {
    const found = await node.documents.get("a", result!.ids[place]!, {});
    assert.equal(Buffer.from(found!.source).toString(), documents[place]);
    assert.equal(found!.seqNo, result!.outcomes[place]);
  }
});

test("of a run of documents those fail that don't fit the mapping", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  const result = await node.documents.append(runOf("a", ['{"n":2}', '{"n":"no"}', '{"n":3}']), options);
  const codes = result!.outcomes.map((outcome) => (typeof outcome === "number" ? "in" : outcome.code));
  assert.deepEqual(codes, ["in", "mapping_parse", "in"]);
  assert.equal(count(node, "a"), 3);
});

test("a run for an index that can't be is left to those who write one by one", async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  assert.equal(await node.documents.append(runOf("Bad Name", ["{}"]), options), null);
  assert.equal(log.messages.length, 0);
});

test("items fail one by one", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const results = await node.documents.write(
    [
      put("1", { n: 1 }),
      put("2", { n: "no number" }),
      put("3", { n: 3 }, "Bad Name"),
      put("3", { n: 3 }, "half-\ud800"),
      put("half-\ud800", { n: 1 }),
      { ...put("3", { n: 1 }), routing: "half-\udc00" },
      { kind: "create", index: "a", id: "1", source: Buffer.from("{}") },
      { kind: "delete", index: "a", id: "9" },
      {
        kind: "update",
        index: "a",
        id: "8",
        source: Buffer.from("{}"),
        docAsUpsert: false,
        detectNoop: true,
      },
    ],
    options,
  );
  const outcomes = results.map((result) => ("error" in result ? result.error.code : result.result));
  assert.deepEqual(outcomes, [
    "created",
    "mapping_parse",
    "index_name_invalid",
    "index_name_invalid",
    "request_invalid",
    "request_invalid",
    "version_conflict",
    "not_found",
    "document_missing",
  ]);
});

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
  const documents = [0, 10, 20].map((offset, ordinal) => ({
    index: "logs-a",
    id: `id-${offset}`,
    source: Buffer.from(JSON.stringify({ message: `line ${offset}` })),
    ordinal,
    sourceIndex: 1,
    offset,
  }));
  const origin = { rawIncarnation: 1, partition: 3, rawSequence: 1 };
  await node.sink.write(origin, sources, documents);
  await node.sink.write({ ...origin, rawIncarnation: 2, rawSequence: 1 }, sources, documents);
  await node.documents.write([put("barrier", {}, "logs-a")], options);
  assert.equal(count(node, "logs-a"), 4);
});

test("a document for an index that cannot be is put aside and the rest goes on", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  const document = (index: string, ordinal: number, id = `id-${ordinal}`) => ({
    index,
    id,
    source: Buffer.from("{}"),
    ordinal,
    sourceIndex: 0,
    offset: ordinal,
  });
  const origin = { rawIncarnation: 1, partition: 0, rawSequence: 1 };
  const halfId = document("logs-a", 2, "half-\ud800");
  await node.sink.write(origin, [], [document("Not Allowed", 0), document("logs-a", 1), halfId]);
  await node.documents.write([put("barrier", {}, "logs-a")], options);
  assert.equal(count(node, "logs-a"), 2);
  assert.deepEqual(
    node.dead.map(({ code }) => code),
    ["index_name_invalid", "request_invalid"],
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

test("a full disk fails the commit, loses nothing, and the next commit with space keeps everything", async (t) => {
  const log = new MemoryLog();
  const folder = temporaryFolder(t);
  const bucket = new MemoryBucket();
  const first = await openNode(t, log, folder, bucket);
  await first.documents.write([put("1", { n: 1 })], options);
  const committed = first.host.commit();
  const full = t.mock.method(fs, "writeSync", () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
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
});

test("a shard that fails in a refresh is opened anew and the log read again from its commit", async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const failed = Promise.withResolvers<void>();
  t.mock.method(SegmentBuffer.prototype, "seal").mock.mockImplementationOnce(() => {
    failed.resolve();
    throw new Error("a fault in the code");
  });
  await node.documents.write([put("2", { n: 2 })], { ...options, refresh: "false" });
  await failed.promise;
  while (count(node, "a") < 2) {
    await node.host.nextRefresh([node.catalog.get("a")!], AbortSignal.timeout(10_000));
  }
  assert.equal((await node.documents.get("a", "2", {}))?.version, 1);
  assert.deepEqual(node.dead, []);
});

/** Long enough that a test which waits for it fails by its own limit. */
const LONG = { refresh: "false", timeoutMs: 300_000, signal: new AbortController().signal } as const;

function codes(results: Awaited<ReturnType<Documents["write"]>>): string[] {
  return results.map((result) => ("error" in result ? result.error.code : result.result));
}

test("a write whose index is deleted before its shard sees it is answered at once", {
  timeout: 10_000,
}, async (t) => {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  log.beforePublish = async () => {
    log.beforePublish = async () => undefined;
    await node.catalog.delete(["a"]);
  };
  const results = await node.documents.write([put("2", {}), put("3", {})], { ...LONG, refresh: "wait_for" });
  assert.deepEqual(codes(results), ["index_missing", "index_missing"]);
});

test("a write that its shard cannot apply is answered when it is put aside", {
  timeout: 10_000,
}, async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", {})], options);
  const apply = node.host.apply.bind(node.host);
  node.host.apply = (batch, position) => {
    if (batch.id(0) === "2") throw new Error("a fault in the code");
    return apply(batch, position);
  };
  const results = await node.documents.write([put("2", {})], LONG);
  assert.deepEqual(codes(results), ["internal"]);
  assert.equal(node.dead.length, 1);
  assert.deepEqual(codes(await node.documents.write([put("3", {})], LONG)), ["created"]);
});

test("a write that the log or the catalog doesn't take in time says so", { timeout: 10_000 }, async (t) => {
  const log = new MemoryLog();
  const bucket = new MemoryBucket();
  const node = await openNode(t, log, temporaryFolder(t), bucket);
  await node.documents.write([put("1", {})], options);
  const short = { ...LONG, timeoutMs: 20 };
  log.beforePublish = async (signal) => {
    await new Promise((resolve) => signal!.addEventListener("abort", resolve, { once: true }));
    throw new AppError("timeout", "NATS didn't take it in time");
  };
  assert.deepEqual(codes(await node.documents.write([put("2", {})], short)), ["timeout"]);
  t.mock.method(bucket, "create", () => new Promise(() => undefined));
  await assert.rejects(
    node.documents.write([put("2", {}, "new")], short),
    (error: AppError) => error.code === "timeout" && error.message.includes("nothing was written"),
  );
});

test("waiting for a refresh ends with the refresh of its own index, or with a refresh made at the deadline", {
  timeout: 10_000,
}, async (t) => {
  const node = await openNode(t, new MemoryLog(), temporaryFolder(t));
  await node.documents.write([put("1", {}, "often"), put("1", {}, "seldom")], options);
  await node.catalog.putSettings("seldom", { "index.refresh_interval": "1h" });
  const seldom = node.catalog.get("seldom")!;
  node.host.refreshDue(systemClock.monotonic());
  let over = false;
  const waiting = node.host.nextRefresh([seldom], AbortSignal.timeout(5_000)).then(() => (over = true));
  await node.host.nextRefresh([node.catalog.get("often")!], AbortSignal.timeout(5_000));
  assert.equal(over, false, "another index's refresh is none of its own");
  await node.documents.write([put("2", {}, "seldom")], { ...LONG, refresh: "wait_for", timeoutMs: 50 });
  assert.equal(count(node, "seldom"), 2);
  await waiting;
});
