import assert from "node:assert/strict";
import { test } from "node:test";
import { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import {
  decodeMember,
  encodeMember,
  MEMBER_LEASE_MS,
  type MemberRecord,
  memberKey,
} from "#hub/cluster/membership/member-record.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { PartitionAllocator } from "./partition-allocator.ts";
import { decodeTable, PARTITIONS_KEY } from "./partition-table.ts";

async function setUp(t: { after: (end: () => Promise<void>) => void }, bucket = new MemoryBucket()) {
  const clock = new StillClock();
  const renew = (...ids: string[]): Promise<unknown> =>
    Promise.all(
      ids.map((id) =>
        bucket.put(
          memberKey(id),
          encodeMember({
            id,
            name: id,
            state: "live",
            durationMs: MEMBER_LEASE_MS,
            session: `s${id}`,
          } as MemberRecord),
        ),
      ),
    );
  const log = silentLogger();
  const directory = new MemberDirectory({ bucket, clock, log, metrics: new Metrics() });
  const allocator = new PartitionAllocator({ bucket, directory, isHeld: () => true, clock, log });
  const start = async (): Promise<void> => {
    await directory.start();
    await allocator.start();
    t.after(stop);
  };
  const stop = async (): Promise<void> => {
    await allocator.stop();
    await directory.stop();
  };
  const inTable = async (): Promise<string[]> =>
    decodeTable((await bucket.get(PARTITIONS_KEY))!.value)
      .members.map(({ id }) => id)
      .sort();
  const pass = async (seconds: number, ...renewing: string[]): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await renew(...renewing);
      await clock.advance(1_000);
    }
  };
  return { bucket, renew, start, stop, inTable, pass };
}

test("a hub that stops with a damaged record is taken out, and so are others after it", async (t) => {
  const { bucket, renew, start, inTable, pass } = await setUp(t);
  await renew("a", "b", "c");
  await start();
  assert.deepEqual(await inTable(), ["a", "b", "c"]);
  await bucket.put(memberKey("a"), Buffer.from("{"));
  await pass(5, "b", "c");
  await pass(40, "c", "d");
  assert.equal(decodeMember((await bucket.get(memberKey("a")))!.value).state, "lost");
  assert.equal(decodeMember((await bucket.get(memberKey("b")))!.value).state, "lost");
  assert.deepEqual(await inTable(), ["c", "d"]);
});

test("a member whose record is always a later one holds up neither the others nor the table", async (t) => {
  class Conflicting extends MemoryBucket {
    override update(...given: Parameters<MemoryBucket["update"]>): Promise<number> {
      if (given[0] !== memberKey("a")) return super.update(...given);
      return Promise.reject(new AppError("journal_conflict", "another revision"));
    }
  }
  const { renew, start, inTable, pass } = await setUp(t, new Conflicting());
  await renew("a", "b", "c");
  await start();
  await pass(40, "c", "d");
  assert.deepEqual(await inTable(), ["a", "c", "d"]);
});

test("a hub whose record can't be read at the start keeps its partitions until it is marked as lost", async (t) => {
  const bucket = new MemoryBucket();
  const before = await setUp(t, bucket);
  await before.renew("a", "b", "c");
  await before.start();
  await before.stop();
  await bucket.put(memberKey("a"), Buffer.from("{"));
  const after = await setUp(t, bucket);
  await after.start();
  await after.pass(5, "b", "c", "d");
  assert.deepEqual(await after.inTable(), ["a", "b", "c"]);
  await after.pass(20, "b", "c", "d");
  assert.deepEqual(await after.inTable(), ["b", "c", "d"]);
  assert.equal(decodeMember((await bucket.get(memberKey("a")))!.value).state, "lost");
});
