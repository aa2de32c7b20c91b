/** What stays in memory of segments, and what goes. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { usualCacheBytes } from "#hub/engine/files/cache-memory.ts";
import { ExtentCache } from "#hub/engine/files/extent-cache.ts";
import { MIB } from "#proto/kit/units.ts";
import { FilterCache } from "./filter-cache.ts";
import { FieldDataCache, type UninvertedColumn } from "./uninverted-column.ts";

test("parts of files that were used last stay within the limit", () => {
  const cache = new ExtentCache(100);
  const owner = {};
  const reads: number[] = [];
  const get = (offset: number, length: number): Uint8Array =>
    cache.get(owner, offset, length, () => {
      reads.push(offset);
      return new Uint8Array(length).fill(offset);
    });
  for (const offset of [1, 2, 1, 3, 1, 2]) assert.equal(get(offset, 40)[0], offset);
  assert.deepEqual(reads, [1, 2, 3, 2], "3 pushed out 2, which was used before 1");
  assert.equal(cache.stats().bytes, 80);
  assert.equal(cache.stats().evictions, 2);
  get(9, 60);
  get(9, 60);
  assert.deepEqual(reads.slice(4), [9, 9], "a part of more than half of the limit isn't kept");
  cache.drop(owner);
  assert.equal(cache.stats().bytes, 0);
});

test("a set is kept when it is used again, and is freed with its segment", () => {
  const cache = new FilterCache(1000);
  const segment = {};
  let found = 0;
  const get = (key: string): Bitset | null =>
    cache.get(segment, key, () => {
      found++;
      return key === "none" ? null : new Bitset(320);
    });
  for (let round = 0; round < 4; round++) get("a");
  assert.equal(found, 2, "found the first two times");
  for (let round = 0; round < 4; round++) assert.equal(get("none"), null);
  assert.equal(found, 4, "nothing found is remembered too");
  for (let key = 0; key < 40; key++) for (let round = 0; round < 2; round++) get(`k${key}`);
  assert.ok(cache.stats().bytes <= 1000);
  let unknown = 0;
  for (let round = 0; round < 3; round++) {
    assert.equal(
      cache.get(segment, "unknown", () => void unknown++),
      undefined,
    );
  }
  assert.equal(unknown, 3, "no answer isn't remembered");
  cache.drop(segment);
  assert.deepEqual([cache.stats().bytes, cache.stats().sets], [0, 0]);
});

test("uninverted fields that were used last stay within the limit, and go with their segment", () => {
  const cache = new FieldDataCache(100);
  const [one, other] = [{}, {}];
  const made: string[] = [];
  const get = (owner: object, field: string, sizeBytes: number): void => {
    cache.open(owner, field, () => {
      made.push(field);
      return { sizeBytes } as UninvertedColumn;
    });
  };
  for (const field of ["a", "b", "a", "c", "a", "b"]) get(one, field, 40);
  assert.deepEqual(made, ["a", "b", "c", "b"], "c pushed out b, which was used before a");
  get(other, "large", 120);
  assert.deepEqual([cache.sizeBytes, ...cache.sizes(one)], [120], "the one in use is kept whatever its size");
  assert.deepEqual([...cache.sizes(other)], [["large", 120]]);
  cache.drop(other);
  assert.equal(cache.sizeBytes, 0);
});

test("without a setting caches get a sixteenth of the memory, within bounds", () => {
  const rows = [
    [2 ** 27, 16 * MIB],
    [2 ** 29, 32 * MIB],
    [2 ** 36, 256 * MIB],
  ] as const;
  for (const [memory, bytes] of rows) assert.equal(usualCacheBytes(memory), bytes);
});

test("the caches of a thread share its bytes", async () => {
  const caches = new URL("../files/cache-memory.ts", import.meta.url).href;
  const script = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(caches)}).then(({ limitCaches, cacheLimit }) => {
      limitCaches(8000);
      parentPort.postMessage(["files", "filters", "results"].map(cacheLimit));
    });`;
  const thread = new Worker(script, { eval: true });
  const [limits] = (await once(thread, "message")) as [number[]];
  assert.deepEqual(limits, [5000, 2000, 1000]);
  await thread.terminate();
});

test("caches without memory keep nothing", () => {
  const extents = new ExtentCache(0);
  for (let read = 0; read < 2; read++) extents.get({}, 0, 10, () => new Uint8Array(10));
  const filters = new FilterCache(0);
  const owner = {};
  for (let read = 0; read < 3; read++) filters.get(owner, "a", () => new Bitset(64));
  assert.equal(extents.stats().bytes + filters.stats().bytes, 0);
});
