import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#proto/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { MemberDirectory } from "./member-directory.ts";
import { encodeMember, MEMBER_LEASE_MS, type MemberRecord, memberKey } from "./member-record.ts";

test("a member is late before its lease ends, until it renews", async () => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger() });
  const record = {
    id: "a",
    name: "a",
    state: "live",
    durationMs: MEMBER_LEASE_MS,
  } as unknown as MemberRecord;
  const renew = async (): Promise<void> => {
    await bucket.put(memberKey("a"), encodeMember(record));
    await directory.refresh();
  };
  const seen = (): [isLate: boolean, isSilent: boolean] => {
    const member = directory.get("a")!;
    return [directory.isLate(member), directory.silentMs(member) > 0];
  };
  await renew();
  await clock.advance(4_000);
  assert.deepEqual(seen(), [false, false]);
  await clock.advance(1_000);
  assert.deepEqual(seen(), [true, false]);
  await renew();
  assert.deepEqual(seen(), [false, false]);
  await clock.advance(9_000);
  assert.deepEqual(seen(), [true, true]);
});
