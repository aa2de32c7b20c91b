import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBytes, largeBytes, recycleBytes } from "#proto/kit/large-bytes.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { exportMemory, heapMemory, residentBytes, residentParts } from "./process-memory.ts";

test("the memory of a process is returned, and 0 where the system doesn't provide it", (t) => {
  const heap = heapMemory();
  assert.ok(heap.usedBytes > 0 && heap.usedBytes <= heap.totalBytes && heap.externalBytes >= 0);
  assert.ok(residentBytes() > heap.usedBytes / 2);
  t.mock.method(process.memoryUsage, "rss", () => {
    throw new Error("EMFILE: too many open files, uv_resident_set_memory");
  });
  assert.equal(residentBytes(), 0);
});

test("memory that is kept for large messages is a part of its own", async () => {
  const metrics = new Metrics();
  exportMemory(metrics, "hub", () => ({}));
  const kept = async (): Promise<number> =>
    Number(/part="kept_buffers"\} (\d+)/.exec(await metrics.text())?.[1]);
  assert.equal(await kept(), 0);
  recycleBytes(largeBytes(MIB));
  assert.equal(await kept(), MIB);
  freeBytes(largeBytes(MIB));
  assert.equal(await kept(), 0);
});

test("pages of files are a part of the resident memory", { skip: process.platform !== "linux" }, () => {
  const { resident, resident_files: files } = residentParts();
  assert.ok(files > 1e6 && files < resident, `${files} of ${resident} bytes`);
});
