import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { KnownRecords } from "./known-records.ts";
import { Records } from "./records.ts";

const record = (id: string, expiresAt: number | null = null) => ({ id, data: id, expiresAt, revision: 1 });

test("a known record is returned once, until it expires, and the oldest is forgotten", async () => {
  const clock = new StillClock();
  const known = new KnownRecords<string>(clock);
  known.note("a", record("a"));
  assert.equal(known.take("a")?.data, "a");
  assert.equal(known.take("a"), undefined);
  known.note("b", record("b", clock.now() + 10));
  await clock.advance(10);
  assert.equal(known.take("b"), undefined);
  for (let number = 0; number <= 1_000; number++) known.note(String(number), record(String(number)));
  assert.equal(known.take("0"), undefined);
  assert.equal(known.take("1")?.data, "1");
});

test("a known record is taken without being read if it is unchanged, and as it is if it has changed", async (t) => {
  const bucket = new MemoryBucket();
  const records = new Records<string>({ bucket, clock: new StillClock() }, "kind");
  const stored = async (id: string) => ({ ...record(id), revision: await records.create(id, id) });
  const [unchanged, changed, gone] = [await stored("a"), await stored("b"), await stored("c")];
  await records.put("b", "newer");
  await records.delete("c");
  const { mock } = t.mock.method(bucket, "get");
  assert.equal(await records.take("a", unchanged), "a");
  assert.equal(mock.callCount(), 0);
  assert.equal(await records.take("b", changed), "newer");
  assert.equal(await records.take("c", gone), null);
  assert.deepEqual(await bucket.keys(), []);
});
