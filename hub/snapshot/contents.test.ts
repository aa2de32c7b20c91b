import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ArchivedMessage } from "#hub/journal/streams/stream-archive.ts";
import { MIB } from "#proto/kit/units.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { DirectoryBlobs } from "./blob-store.ts";
import {
  decodeRecords,
  descriptionKey,
  encodeRecords,
  readPiece,
  readSnapshot,
  snapshotNames,
  storePiece,
} from "./contents.ts";

async function* parts(...bytes: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* bytes;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function joined(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collect(bytes));
}

test("bytes are restored unchanged, however they were cut", async (t) => {
  const store = new DirectoryBlobs(new Workspace(t).path("store"));
  const bytes = Buffer.alloc(17 * MIB, "0123456789");
  const tally = { bytes: 0, newBytes: 0 };
  const piece = await storePiece(
    store,
    parts(bytes.subarray(0, 5), bytes.subarray(5, 9 * MIB), bytes.subarray(9 * MIB)),
    tally,
  );
  assert.equal(piece.sizeBytes, bytes.length);
  assert.equal(piece.chunks.length, 3);
  assert.ok((await joined(readPiece(store, piece))).equals(bytes));
});

test("what an earlier snapshot stored isn't stored again", async (t) => {
  const store = new DirectoryBlobs(new Workspace(t).path("store"));
  const tally = { bytes: 0, newBytes: 0 };
  const first = await storePiece(store, parts(Buffer.from("segment")), tally);
  const second = await storePiece(store, parts(Buffer.from("seg"), Buffer.from("ment")), tally);
  assert.deepEqual(second, first);
  assert.deepEqual(tally, { bytes: 14, newBytes: 7 });
});

test("a damaged blob is reported by name", async (t) => {
  const folder = new Workspace(t).path("store");
  const store = new DirectoryBlobs(folder);
  const piece = await storePiece(store, parts(Buffer.from("whole")), { bytes: 0, newBytes: 0 });
  const [digest = ""] = piece.chunks;
  writeFileSync(join(folder, "blobs", digest.slice(0, 2), digest), "holed");
  await assert.rejects(joined(readPiece(store, piece)), {
    code: "data_corrupt",
    message: new RegExp(digest),
  });
});

test("snapshots are listed by name; others than these, and other versions, are refused", async (t) => {
  const folder = new Workspace(t).path("store");
  const store = new DirectoryBlobs(folder);
  assert.deepEqual(await snapshotNames(store), []);
  for (const name of ["b", "a"]) await store.put(descriptionKey(name), Buffer.from('{"version":2}'));
  assert.deepEqual(await snapshotNames(store), ["a", "b"]);
  assert.deepEqual(readdirSync(join(folder, "snapshots")), ["a.json", "b.json"]);
  await assert.rejects(readSnapshot(store, "a"), { code: "data_corrupt", message: /version 2/ });
  await assert.rejects(readSnapshot(store, "c"), { code: "not_found" });
  for (const name of ["../a", "", "A", "x".repeat(101)])
    assert.throws(() => descriptionKey(name), { code: "usage_invalid" }, name);
});

test("messages come back in order with headers and data, wherever the bytes were cut", async () => {
  const messages: ArchivedMessage[] = [
    { subject: "raw.1.a", sequence: 7, headers: [["Nats-Msg-Id", "x/1"]], data: Buffer.from("one\ntwo") },
    { subject: "$KV.b.k", sequence: 9, headers: [], data: Buffer.alloc(0) },
    { subject: "doc.1.u.0", sequence: 12, headers: [], data: Buffer.from([0, 10, 255]) },
  ];
  async function* all(): AsyncGenerator<ArchivedMessage> {
    yield* messages;
  }
  const count = { messages: 0 };
  const bytes = await joined(encodeRecords(all(), count));
  assert.equal(count.messages, 3);
  for (const size of [1, 7, bytes.length]) {
    const cut = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const read = await collect(decodeRecords(parts(...cut)));
    assert.deepEqual(
      read.map((each) => ({ ...each, data: Buffer.from(each.data) })),
      messages,
    );
  }
  await assert.rejects(collect(decodeRecords(parts(bytes.subarray(0, 20)))), {
    code: "data_corrupt",
  });
});
