import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { committedPosition } from "#hub/cluster/shards/position-files.ts";
import { markShard } from "#hub/cluster/shards/shard-folders.ts";
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
import { StillClock } from "#test/support/kit/still-clock.ts";
import { fetchCopy } from "./copy-fetch.ts";
import { CopySource } from "./copy-source.ts";
import { filesBelow } from "./held-shards.ts";

type Answer = Parameters<HubTransport["serve"]>[1];

/** Requests between the hubs of a test; `away` makes each time out. */
class Wire implements HubTransport {
  readonly #served = new Map<string, Answer>();
  requests = 0;
  away = false;

  async request(subject: string, data: Uint8Array): Promise<Uint8Array> {
    this.requests++;
    const answer = this.#served.get(subject);
    if (this.away) throw new AppError("timeout", "away");
    if (answer === undefined) throw new AppError("unavailable", "no responder");
    return answer({ data });
  }

  serve(subject: string, answer: Answer): () => void {
    this.#served.set(subject, answer);
    return () => this.#served.delete(subject);
  }
}

async function world(t: TestContext) {
  const [log, folder, wire, clock] = [new MemoryLog(), temporaryFolder(t), new Wire(), new StillClock()];
  const engine = join(folder, "engine");
  const bucket = new MemoryBucket();
  const node = await openNode(t, log, engine, bucket);
  const held = join(folder, "held");
  const shared = { clock, log: silentLogger(), metrics: new Metrics() };
  const source = new CopySource({ ...shared, transport: wire, node: "a", engine, held });
  await source.start();
  t.after(() => source.stop());
  const fetched = join(folder, "fetched");
  const fetch = () =>
    fetchCopy({
      transport: wire,
      node: "a",
      into: fetched,
      signal: new AbortController().signal,
      progress: () => undefined,
    });
  return { log, folder, engine, bucket, node, wire, clock, source, held, fetched, fetch };
}

test("a copy of a hub that goes on writing has what was committed, and the log brings the rest", async (t) => {
  const { log, bucket, node, fetch, fetched, held, wire } = await world(t);
  for (let n = 0; n < 50; n++) await node.documents.write([put(`${n}`, { n })], options);
  node.host.commit();
  await node.documents.write([put("late", { n: 50 }), put("1", { n: 100 })], options);
  const copied = await fetch();
  assert.equal(copied.files, filesBelow(fetched).length);
  // The hub may have committed again since.
  const kept = join(held, readdirSync(held)[0]!);
  for (const path of filesBelow(fetched))
    assert.deepEqual(readFileSync(join(fetched, path)), readFileSync(join(kept, path)), path);
  assert.ok(wire.requests > 3);
  const copy = await openNode(t, log, fetched, bucket);
  await copy.documents.write([put("barrier", {})], options);
  assert.equal(count(copy, "a"), 52);
  assert.equal((await copy.documents.get("a", "1", {}))?.version, 2);
});

test("the log keeps what a copy lacks for a minute after it was read, while its hub joins", async (t) => {
  const { node, fetch, clock, source, engine, held } = await world(t);
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const position = committedPosition(engine, silentLogger());
  await fetch();
  await node.documents.write([put("2", { n: 2 })], options);
  const newer = { ...position, sequence: position.sequence + 5 };
  assert.deepEqual(source.needed(newer), position);
  assert.equal(readdirSync(held).length, 1);
  for (let passedMs = 0; passedMs < 70_000; passedMs += 5_000) await clock.advance(5_000);
  assert.deepEqual(source.needed(newer), newer);
  assert.deepEqual(readdirSync(held), []);
});

test("a third hub that copies at the same time is refused, and files outside the copy aren't read", async (t) => {
  const { wire, fetch } = await world(t);
  const ask = async (request: unknown) =>
    Buffer.from(await wire.request("hub.a.shards", Buffer.from(JSON.stringify(request)))).toString();
  const { copy } = JSON.parse((await ask({ operation: "hold" })).slice(1)) as { copy: string };
  await ask({ operation: "hold" });
  await assert.rejects(fetch(), /2 hubs are copying/);
  assert.match(await ask({ operation: "read", copy, file: 10_000, offset: 0 }), /no file 10000/);
  assert.match(await ask({ operation: "read", copy: "other", file: 0, offset: 0 }), /was released/);
});

test("a copy that breaks off leaves an error and the hub's own files untouched", async (t) => {
  const { node, wire, fetch, fetched, engine } = await world(t);
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  const request = wire.request.bind(wire);
  wire.request = (subject, data) => {
    if (Buffer.from(data).includes("read")) wire.away = true;
    return request(subject, data);
  };
  const before = filesBelow(engine);
  await assert.rejects(fetch(), { code: "timeout" });
  assert.deepEqual(filesBelow(engine), before);
  assert.ok(existsSync(fetched));
});

test("a shard that goes, or came half, isn't copied, nor are all shards of such a hub", async (t) => {
  const { node, fetch, engine, wire } = await world(t);
  await node.documents.write([put("1", { n: 1 })], options);
  const { uuid } = node.catalog.get("a")!;
  const hold = async (...shards: number[]) => {
    const request = { operation: "hold", shards: shards.map((shard) => ({ uuid, shard })) };
    const answer = await wire.request("hub.a.shards", Buffer.from(JSON.stringify(request)));
    return Buffer.from(answer).toString();
  };
  markShard(engine, { uuid, shard: 0 }, "taking");
  node.host.placed.drop(uuid, 1);
  assert.match(await hold(0), /no whole copy/);
  assert.match(await hold(1), /no whole copy/);
  assert.match(await hold(2, 9), /no copy/);
  await assert.rejects(fetch(), /no whole copy/);
  assert.match(await hold(2), /"files":/);
});
