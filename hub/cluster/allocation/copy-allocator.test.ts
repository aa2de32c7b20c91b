import assert from "node:assert/strict";
import { test } from "node:test";
import { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import {
  decodeMember,
  encodeMember,
  type MemberRecord,
  memberKey,
} from "#hub/cluster/membership/member-record.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
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
  const replicas = new Map<string, number>();
  const expand = new Map<string, unknown>();
  const lease = { isHeld: true };
  /** Returns what places copies as a hub does that has read everything at this moment. */
  const allocator = async (): Promise<CopyAllocator> => {
    const directory = new MemberDirectory({ bucket, clock, log, metrics: new Metrics() });
    await directory.refresh();
    return new CopyAllocator({
      bucket,
      directory,
      clock,
      log,
      indices: () =>
        [...known].map((uuid) => ({
          name: uuid,
          uuid,
          settings: {
            numberOfShards: 1,
            numberOfReplicas: replicas.get(uuid) ?? 0,
            raw: { auto_expand_replicas: expand.get(uuid) },
          } as never,
        })),
      isDeleted: async (uuid) => deleted.has(uuid),
      setReplicas: async (name, count) => void replicas.set(name, count),
      isHeld: () => lease.isHeld,
    });
  };
  const table = async (): Promise<CopyTable["copies"]> =>
    decodeCopies((await bucket.get(COPIES_KEY))!.value).copies;
  return { bucket, clock, known, deleted, replicas, expand, lease, allocator, table };
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

test("a hub that has lost the lease writes neither the table nor numbers of replicas", async () => {
  const { bucket, expand, replicas, lease, allocator } = await world("x");
  expand.set("x", "1-all");
  lease.isHeld = false;
  await (await allocator()).expand();
  await (await allocator()).place();
  assert.deepEqual([await bucket.get(COPIES_KEY), [...replicas]], [null, []]);
  lease.isHeld = true;
  await (await allocator()).expand();
  await (await allocator()).place();
  assert.notEqual(await bucket.get(COPIES_KEY), null);
  assert.equal(replicas.size, 1);
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

test("no table is made while no hub is live", async () => {
  const { bucket, allocator } = await world("x");
  for (const id of ["a", "b"]) {
    const record = decodeMember((await bucket.get(memberKey(id)))!.value);
    await bucket.put(memberKey(id), encodeMember({ ...record, state: "lost", places: false }));
  }
  await (await allocator()).place();
  assert.equal(await bucket.get(COPIES_KEY), null);
});

test("an index with auto_expand_replicas has as many as there are other hubs, within its range", async () => {
  const { bucket, replicas, expand, allocator } = await world("x", "y", "z", "odd");
  expand.set("x", "0-all");
  expand.set("y", "0-1");
  expand.set("z", "3-5");
  // As an earlier version may have stored it.
  expand.set("odd", "many");
  const expanded = async (): Promise<(number | undefined)[]> => {
    await (await allocator()).expand();
    return ["x", "y", "z", "odd"].map((uuid) => replicas.get(uuid));
  };
  assert.deepEqual(await expanded(), [1, 1, 3, undefined]);
  const record = {
    id: "c",
    name: "c",
    session: "1",
    state: "live",
    attributes: {},
  } as unknown as MemberRecord;
  await bucket.put(memberKey("c"), encodeMember(record));
  assert.deepEqual(await expanded(), [2, 1, 3, undefined]);
  // A hub that was just found lost still counts.
  await bucket.put(memberKey("c"), encodeMember({ ...record, state: "lost", lostMs: 1_000 }));
  assert.deepEqual(await expanded(), [2, 1, 3, undefined]);
  await bucket.put(memberKey("c"), encodeMember({ ...record, state: "lost", lostMs: -100_000 }));
  assert.deepEqual(await expanded(), [1, 1, 3, undefined]);
});

test("an index with auto_expand_replicas keeps its replicas while a hub that was stopped may be back soon", async () => {
  const { bucket, clock, replicas, expand, allocator, table } = await world("x");
  expand.set("x", "0-all");
  const round = async (): Promise<[number | undefined, number]> => {
    const each = await allocator();
    await each.expand();
    await each.place();
    return [replicas.get("x"), (await table())["x"]![0]!.length];
  };
  assert.deepEqual(await round(), [1, 2]);
  const stopped = (await bucket.get(memberKey("b")))!;
  await bucket.delete(memberKey("b"), stopped.revision);
  assert.deepEqual(await round(), [1, 2]);
  await clock.advance(59_000);
  assert.deepEqual(await round(), [1, 2]);
  // Another one that takes its place isn't a third hub.
  const record = { ...decodeMember(stopped.value), id: "c" };
  await bucket.put(memberKey("c"), encodeMember(record));
  assert.equal((await round())[0], 1);
  await bucket.delete(memberKey("c"), (await bucket.get(memberKey("c")))!.revision);
  await clock.advance(2_000);
  assert.deepEqual(await round(), [0, 1]);
});

test("a lost hub is replaced after the delay, though the clock of the hub that found it was ahead", async () => {
  const { bucket, clock, replicas, allocator, table } = await world("x");
  replicas.set("x", 1);
  const placing = await allocator();
  await placing.place();
  const record = decodeMember((await bucket.get(memberKey("b")))!.value);
  await bucket.put(memberKey("c"), encodeMember({ ...record, id: "c", name: "c" }));
  const lostMs = clock.now() + 3_600_000;
  await bucket.put(memberKey("b"), encodeMember({ ...record, state: "lost", lostMs }));
  const next = await allocator();
  await next.place();
  assert.deepEqual(await table(), { x: [["a", "b"]] });
  await clock.advance(60_000);
  await next.place();
  assert.deepEqual(await table(), { x: [["a", "c"]] });
});
