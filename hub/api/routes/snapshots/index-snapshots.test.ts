import assert from "node:assert/strict";
import { test } from "node:test";
import type { FoundDocument } from "#hub/api/routes/by-query/change-by-query.ts";
import { MemoryBlobs, recordOf } from "#test/support/api/memory-blobs.ts";
import { IndexSnapshots } from "./index-snapshots.ts";

function documentOf(id: string, source: string, routing?: string): FoundDocument {
  const bytes = Buffer.from(source);
  return {
    index: "a",
    type: undefined,
    id,
    version: 3,
    seqNo: undefined,
    primaryTerm: undefined,
    routing,
    source: bytes,
  };
}

test("documents of any form come back byte by byte, in pages", async () => {
  const store = new IndexSnapshots(new MemoryBlobs());
  const writer = store.pages("u", 0);
  const large = `{"text":"${"x".repeat(9 << 20)}"}`;
  const given = [documentOf("1", '{\n "a": 1\n}'), documentOf("ä\n", large, "r"), documentOf("3", "{}")];
  for (const document of given) await writer.add(document);
  await writer.flush();
  assert.deepEqual(writer.keys, ["index-pages/u/0/000000", "index-pages/u/0/000001"]);
  const pages = await Promise.all(writer.keys.map((key) => store.documents("a", key)));
  assert.deepEqual(
    pages.map((page) => page.length),
    [2, 1],
  );
  assert.deepEqual(
    pages
      .flat()
      .map(({ id, routing, version, source }) => [id, routing, version, Buffer.from(source).toString()]),
    given.map(({ id, routing, source }) => [id, routing, 3, Buffer.from(source).toString()]),
  );
});

test("a damaged page and a description of another format are refused", async () => {
  const blobs = new MemoryBlobs();
  const store = new IndexSnapshots(blobs);
  const writer = store.pages("u", 0);
  await writer.add(documentOf("1", "{}"));
  await writer.flush();
  const [key] = writer.keys;
  blobs.stored.set(key!, blobs.stored.get(key!)!.subarray(0, 20));
  await assert.rejects(store.documents("a", key!), { code: "data_corrupt" });
  blobs.stored.set("index-snapshots/s.json", Buffer.from('{"format":2}'));
  await assert.rejects(store.read("s"), { code: "data_corrupt" });
  assert.equal(await store.read("none"), undefined);
});

test("a page is removed with the last snapshot that has it, and never while one is taken", async () => {
  const blobs = new MemoryBlobs();
  const store = new IndexSnapshots(blobs);
  for (const key of ["index-pages/u/0/000000", "index-pages/v/0/000000"])
    blobs.stored.set(key, Buffer.from("x"));
  await store.write(recordOf("one", "u", ["index-pages/u/0/000000"]));
  await store.write(recordOf("copy", "u", ["index-pages/u/0/000000"]));
  await store.write({ ...recordOf("growing", "v", []), state: "IN_PROGRESS" });
  await store.remove("one");
  assert.equal((await blobs.list("index-pages/")).length, 2);
  await store.remove("copy");
  assert.deepEqual(await blobs.list("index-pages/"), ["index-pages/v/0/000000"]);
  await store.write({ ...recordOf("growing", "v", []), state: "FAILED" });
  assert.deepEqual(await store.cleanUp(), { blobs: 1, bytes: 1 });
  assert.deepEqual(await store.names(), ["growing"]);
});

test("pages of a snapshot that begins while others are read stay", async () => {
  const blobs = new MemoryBlobs();
  const store = new IndexSnapshots(blobs);
  await store.write(recordOf("one", "u", []));
  blobs.stored.set("index-pages/old/0/000000", Buffer.from("x"));
  const get = blobs.get.bind(blobs);
  blobs.get = async (key) => {
    const found = await get(key);
    if (key !== "index-snapshots/one.json") return found;
    await store.write({ ...recordOf("two", "v", []), state: "IN_PROGRESS" });
    blobs.stored.set("index-pages/v/0/000000", Buffer.from("x"));
    return found;
  };
  await store.cleanUp();
  assert.deepEqual(await blobs.list("index-pages/"), ["index-pages/v/0/000000"]);
});
