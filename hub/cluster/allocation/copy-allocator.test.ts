import assert from "node:assert/strict";
import { test } from "node:test";
import { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import { encodeMember, type MemberRecord, memberKey } from "#hub/cluster/membership/member-record.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#proto/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { CopyAllocator } from "./copy-allocator.ts";
import {
  COPIES_KEY,
  type CopyTable,
  decodeCopies,
  encodeCopies,
  encodeHeld,
  HELD_PREFIX,
} from "./copy-table.ts";

/** Two hubs that have the shard of each of the indices. */
async function world(...uuids: string[]) {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const log = silentLogger();
  for (const id of ["a", "b"]) {
    const record = {
      id,
      name: id,
      session: "1",
      state: "live",
      attributes: {},
      places: true,
    } as unknown as MemberRecord;
    await bucket.put(memberKey(id), encodeMember(record));
    const shards = Object.fromEntries(uuids.map((uuid) => [uuid, [0]]));
    await bucket.put(HELD_PREFIX + id, encodeHeld({ session: "1", shards }));
  }
  const known = new Set(uuids);
  const deleted = new Set<string>();
  /** Returns what places copies as a hub does that has read everything at this moment. */
  const allocator = async (): Promise<CopyAllocator> => {
    const directory = new MemberDirectory({ bucket, clock, log });
    await directory.refresh();
    return new CopyAllocator({
      bucket,
      directory,
      clock,
      log,
      indices: () =>
        [...known].map((uuid) => ({
          uuid,
          settings: { numberOfShards: 1, numberOfReplicas: 0, raw: {} } as never,
        })),
      isDeleted: async (uuid) => deleted.has(uuid),
    });
  };
  const table = async (): Promise<CopyTable["copies"]> =>
    decodeCopies((await bucket.get(COPIES_KEY))!.value).copies;
  return { bucket, known, deleted, allocator, table };
}

test("an index that a hub doesn't know yet stays in the table until it was deleted", async () => {
  const { known, deleted, allocator, table } = await world("x", "y");
  await (await allocator()).place();
  const before = await table();
  assert.deepEqual(Object.keys(before), ["x", "y"]);
  known.delete("x");
  await (await allocator()).place();
  assert.deepEqual(await table(), before);
  deleted.add("x");
  await (await allocator()).place();
  assert.deepEqual(await table(), { y: before["y"] });
});

test("a table that another hub has changed meanwhile isn't replaced", async () => {
  const { bucket, known, allocator, table } = await world("x", "z");
  known.delete("z");
  await (await allocator()).place();
  const late = await allocator();
  const { revision } = (await bucket.get(COPIES_KEY))!;
  await bucket.update(COPIES_KEY, encodeCopies({ epoch: 7, copies: { x: [["b"]] } }), revision);
  known.add("z");
  await assert.rejects(late.place(), { code: "journal_conflict" });
  assert.deepEqual(await table(), { x: [["b"]] });
});

test("no table is made as long as a hub has all shards", async () => {
  const { bucket, allocator } = await world("x");
  const record = {
    id: "c",
    name: "c",
    session: "1",
    state: "live",
    attributes: {},
  } as unknown as MemberRecord;
  await bucket.put(memberKey("c"), encodeMember(record));
  await (await allocator()).place();
  assert.equal(await bucket.get(COPIES_KEY), null);
});
