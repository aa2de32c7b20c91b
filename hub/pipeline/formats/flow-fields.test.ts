import assert from "node:assert/strict";
import { test } from "node:test";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { fieldValue } from "./flow-fields.ts";

test("text loses the zeros at its end alone, in time linear in it", () => {
  const inside = `a${"\0".repeat(60_000)}b`;
  const startedMs = threadCpuMs();
  assert.equal(fieldValue("s", Buffer.from(`${inside}\0\0`)), inside);
  assert.equal(fieldValue("s", Buffer.from("\0\0")), "");
  assert.ok(threadCpuMs() - startedMs < 500);
});
