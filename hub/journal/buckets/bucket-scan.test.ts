import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Connection } from "#hub/journal/connection/connection.ts";
import { Journal } from "#hub/journal/journal.ts";
import { StreamStore } from "#hub/journal/streams/stream-store.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { startNats } from "#test/harness/nats.ts";
import { BucketScan } from "./bucket-scan.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** Returns an empty bucket of a server of its own, and a second connection to that. */
async function openBucket(t: TestContext): Promise<{ bucket: StateBucket; connection: Connection }> {
  const nats = await startNats();
  t.after(() => nats.stop());
  const folder = mkdtempSync(join(tmpdir(), "tailrace-scan-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const external = { servers: [nats.url], token: nats.token };
  const journal = new Journal({
    dataDir: folder,
    host: "127.0.0.1",
    port: 0,
    name: "test",
    external,
    maxBytes: 32 * 1024 ** 2,
    log: silentLogger(),
    metrics: new Metrics(),
  });
  await journal.start();
  t.after(() => journal.stop());
  const connection = new Connection({ target: () => external, name: "scan", log: silentLogger() });
  await connection.start();
  t.after(() => connection.stop());
  return { bucket: await journal.bucket("scanned"), connection };
}

/** Calls `meanwhile` once, when a scan has asked what the bucket contains and has read nothing yet. */
class BusyStore extends StreamStore {
  #meanwhile: (() => Promise<unknown>) | undefined;

  constructor(connection: Connection, meanwhile: () => Promise<unknown>) {
    super(connection);
    this.#meanwhile = meanwhile;
  }

  override async settledState(stream: string): ReturnType<StreamStore["settledState"]> {
    const state = await super.settledState(stream);
    await this.#happen();
    return state;
  }

  override async subjects(stream: string, filter: string): ReturnType<StreamStore["subjects"]> {
    const subjects = await super.subjects(stream, filter);
    await this.#happen();
    return subjects;
  }

  async #happen(): Promise<void> {
    const meanwhile = this.#meanwhile;
    this.#meanwhile = undefined;
    await meanwhile?.();
  }
}

function busyScan(connection: Connection, meanwhile: () => Promise<unknown>): BucketScan {
  const streams = new BusyStore(connection, meanwhile);
  return new BucketScan(connection, streams, "KV_scanned", "$KV.scanned.", undefined);
}

test("keys that are written without a pause are all listed, and at once", async (t) => {
  const { bucket } = await openBucket(t);
  const keys = Array.from({ length: 40 }, (_, at) => `cursor.${at + 10}`);
  for (const key of keys) await bucket.put(key, bytes("0"));
  let isOver = false;
  const writing = keys.map(async (key) => {
    for (let value = 1; !isOver; value++) await bucket.put(key, bytes(String(value)));
  });
  try {
    for (let round = 0; round < 20; round++)
      for (const prefix of ["cursor.", "cursor", ""])
        assert.deepEqual((await bucket.keys(prefix)).sort(), keys, `round ${round} of "${prefix}"`);
  } finally {
    isOver = true;
    await Promise.all(writing);
  }
});

test("a listing ends at once while one key after the other is written", async (t) => {
  const { bucket } = await openBucket(t);
  const keys = Array.from({ length: 12 }, (_, at) => `cursor.${at + 10}`);
  for (const key of keys) await bucket.put(key, bytes("0"));
  let isOver = false;
  const write = async (): Promise<void> => {
    for (let at = 0; !isOver; at++) await bucket.put(keys[at % keys.length]!, bytes(String(at)));
  };
  const writing = write();
  try {
    for (let round = 0; round < 40; round++)
      assert.deepEqual((await bucket.keys("cursor.")).sort(), keys, `round ${round}`);
  } finally {
    isOver = true;
    await writing;
  }
});

const SCANNED = ["s.a", "s.b", "s.c"];
type Change = (bucket: StateBucket, streams: StreamStore) => Promise<unknown>;
const CHANGES: readonly (readonly [what: string, change: Change, listed: readonly string[]])[] = [
  ["overwritten", (bucket) => bucket.put("s.b", bytes("2")), SCANNED],
  ["deleted", (bucket) => bucket.delete("s.b"), ["s.a", "s.c"]],
  ["removed", (_, streams) => streams.purge("KV_scanned", 9, "$KV.scanned.s.b"), ["s.a", "s.c"]],
  ["overwritten as the last one", (bucket) => bucket.put("s.c", bytes("2")), SCANNED],
  [
    "removed as the last one",
    (_, streams) => streams.purge("KV_scanned", 9, "$KV.scanned.s.c"),
    ["s.a", "s.b"],
  ],
];

for (const [what, change, listed] of CHANGES)
  test(`a listing is complete where a key is ${what} meanwhile`, async (t) => {
    const { bucket, connection } = await openBucket(t);
    for (const key of SCANNED) await bucket.put(key, bytes("1"));
    const streams = new StreamStore(connection);
    const scan = busyScan(connection, () => change(bucket, streams));
    const entries = await scan.list(await scan.stored("s.", t.signal), t.signal, 0);
    const stored = entries.filter(({ value }) => value !== null);
    assert.deepEqual(stored.map(({ key }) => key).sort(), listed);
  });

/** Has a newer message than the server of a consumer: the deletion of "s.b", which comes to that server by `arrive`. */
class LeadingStore extends StreamStore {
  readonly #arrive: () => unknown;

  constructor(connection: Connection, arrive: () => unknown) {
    super(connection);
    this.#arrive = arrive;
  }

  override async lastMessage(stream: string, subject: string): ReturnType<StreamStore["lastMessage"]> {
    const found = (await super.lastMessage(stream, subject))!;
    if (subject.endsWith(">")) setTimeout(this.#arrive, LAG_MS);
    else if (!subject.endsWith(".b")) return found;
    return { ...found, sequence: SCANNED.length + 1, header: () => "DEL" };
  }
}

const LAG_MS = 100;

for (const isLost of [false, true])
  test(`a listing has no deleted key where the consumer's server lags${isLost ? " on and on" : ""}`, async (t) => {
    const { bucket, connection } = await openBucket(t);
    for (const key of SCANNED) await bucket.put(key, bytes("1"));
    const streams = new LeadingStore(connection, () => (isLost ? undefined : bucket.delete("s.b")));
    const scan = new BucketScan(connection, streams, "KV_scanned", "$KV.scanned.", undefined);
    const entries = await scan.list(await scan.stored("s.", t.signal), t.signal, 0);
    const stored = entries.filter(({ value }) => value !== null);
    assert.deepEqual(stored.map(({ key }) => key).sort(), ["s.a", "s.c"]);
  });

test("a watch that begins again reports no deletion of a key that is overwritten meanwhile", async (t) => {
  const { bucket, connection } = await openBucket(t);
  const known = new Map<string, number>();
  for (const key of ["purged", "a", "b"]) known.set(key, await bucket.put(key, bytes("1")));
  const streams = new StreamStore(connection);
  await streams.purge("KV_scanned", known.get("purged")! + 1, "$KV.scanned.purged");
  const scan = busyScan(connection, () => bucket.put("a", bytes("2")));
  const seen: string[] = [];
  for await (const { key, value } of scan.follow(known, t.signal, 0)) {
    seen.push(`${key}=${value === null ? "gone" : Buffer.from(value).toString()}`);
    if (value !== null) break;
  }
  assert.deepEqual(seen.sort(), ["a=2", "purged=gone"]);
});
