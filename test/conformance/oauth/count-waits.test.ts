import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { countWaits } from "./count-waits.ts";

test("a run that fails after its calls fails the count alone, and gives the bucket back as it was", async () => {
  const bucket = new MemoryBucket();
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const run = async (): Promise<void> => {
      await bucket.get("a.b");
      throw new Error("the page was refused");
    };
    await assert.rejects(countWaits(bucket, run), { message: "the page was refused" });
    assert.deepEqual(unhandled, []);
    assert.equal(await bucket.get("a.b"), null, "nothing is held any more");
  } finally {
    process.off("unhandledRejection", note);
  }
});
