import assert from "node:assert/strict";
import { test } from "node:test";
import { heapMemory, residentBytes, residentParts } from "./process-memory.ts";

test("the memory of a process is returned, and 0 where the system doesn't provide it", (t) => {
  const heap = heapMemory();
  assert.ok(heap.usedBytes > 0 && heap.usedBytes <= heap.totalBytes && heap.externalBytes >= 0);
  assert.ok(residentBytes() > heap.usedBytes / 2);
  t.mock.method(process.memoryUsage, "rss", () => {
    throw new Error("EMFILE: too many open files, uv_resident_set_memory");
  });
  assert.equal(residentBytes(), 0);
});

test("pages of files are a part of the resident memory", { skip: process.platform !== "linux" }, () => {
  const { resident, resident_files: files } = residentParts();
  assert.ok(files > 1e6 && files < resident, `${files} of ${resident} bytes`);
});
