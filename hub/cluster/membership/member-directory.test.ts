import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { EXPIRY_FACTOR } from "#hub/journal/buckets/lease.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateChange } from "#proto/kit/state-bucket.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { MemberDirectory } from "./member-directory.ts";
import { encodeMember, MEMBER_LEASE_MS, type MemberRecord, memberKey } from "./member-record.ts";

const RECORD = {
  id: "a",
  name: "a",
  state: "live",
  session: "a.1",
  durationMs: MEMBER_LEASE_MS,
} as unknown as MemberRecord;

test("a member is late before its lease ends, until it renews", async () => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  const renew = async (): Promise<void> => {
    await bucket.put(memberKey("a"), encodeMember(RECORD));
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

test("listeners learn within half a second that a member has stopped", async (t) => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  await bucket.put(memberKey("a"), encodeMember(RECORD));
  await directory.start();
  t.after(() => directory.stop());
  let stillMs = 0;
  directory.onChange(() => {
    if (stillMs === 0 && directory.isStill(directory.get("a")!)) stillMs = clock.monotonic();
  });
  const stoppedMs = clock.monotonic();
  while (stillMs === 0 && clock.monotonic() - stoppedMs < 20_000) await clock.advance(50);
  const limitMs = MEMBER_LEASE_MS * EXPIRY_FACTOR;
  assert.ok(
    stillMs - stoppedMs >= limitMs && stillMs - stoppedMs < limitMs + 500,
    `${stillMs - stoppedMs} ms`,
  );
});

/** A bucket whose watch misses every change, as a late one would. */
class ReadBucket extends MemoryBucket {
  readonly read: string[] = [];
  isAway = false;

  override get(key: string): ReturnType<MemoryBucket["get"]> {
    this.read.push(key);
    return this.isAway ? Promise.reject(new Error("away")) : super.get(key);
  }

  override async *watch(signal: AbortSignal): AsyncGenerator<StateChange> {
    for await (const change of super.watch(signal)) if (change.revision === 0) yield change;
  }
}

test("each poll reads one key in turn, beside members that are late", async (t) => {
  const bucket = new ReadBucket();
  const clock = new StillClock();
  const shared = ["copies", "duties", "held.a", "held.b", "held.c", "partitions"];
  for (const key of shared) await bucket.put(key, Buffer.from("1"));
  await bucket.put(memberKey("a"), encodeMember(RECORD));
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  await directory.start();
  t.after(() => directory.stop());
  bucket.read.length = 0;
  await bucket.put("held.b", Buffer.from("2"));
  for (let second = 1; second <= 4; second++) await clock.advance(1_000);
  assert.equal(bucket.read.length, 4);
  assert.equal(new Set(bucket.read).size, 4);
  for (let second = 5; second <= 7; second++) await clock.advance(1_000);
  assert.deepEqual(new Set(bucket.read), new Set([...shared, memberKey("a")]));
  assert.equal(String(directory.shared("held.b")?.value), "2", "what the watch has missed is found");
  assert.ok(bucket.read.filter((key) => key === memberKey("a")).length >= 3, "it is late");
});

test("while the store doesn't answer no member counts as still", async (t) => {
  const bucket = new ReadBucket();
  const clock = new StillClock();
  await bucket.put(memberKey("a"), encodeMember(RECORD));
  await bucket.put("partitions", Buffer.from("1"));
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  await directory.start();
  t.after(() => directory.stop());
  bucket.isAway = true;
  for (let second = 0; second < 3; second++) await clock.advance(1_000);
  for (let second = 0; second < 12; second++) await clock.advance(1_000);
  bucket.isAway = false;
  await clock.advance(1_000);
  assert.equal(directory.isStill(directory.get("a")!), false);
  for (let second = 0; second < 12; second++) await clock.advance(1_000);
  assert.equal(directory.isStill(directory.get("a")!), true);
});

test("records of a bucket that was lost and made anew are taken, whatever their revisions", async (t) => {
  const bucket = new ReadBucket();
  const clock = new StillClock();
  for (let renewal = 0; renewal < 20; renewal++) await bucket.put(memberKey("a"), encodeMember(RECORD));
  await bucket.put("partitions", Buffer.from("before"));
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  await directory.start();
  t.after(() => directory.stop());
  bucket.lose();
  await bucket.put("partitions", Buffer.from("after"));
  const { highest } = directory;
  directory.stored(await bucket.put(memberKey("b"), encodeMember({ ...RECORD, id: "b" })), highest);
  for (let second = 0; second < 24; second++) {
    await bucket.put(memberKey("a"), encodeMember({ ...RECORD, session: "a.2" }));
    if (second === 10) break;
    await clock.advance(1_000);
  }
  assert.equal(directory.get("a")?.record.session, "a.2");
  assert.equal(directory.isStill(directory.get("a")!), false);
  assert.equal(String(directory.shared("partitions")?.value), "after");
});

test("older records of a server that takes itself for the leader don't count, as no write confirms them", async (t) => {
  const bucket = new ReadBucket();
  const clock = new StillClock();
  await bucket.put("partitions", Buffer.from("before"));
  await bucket.put("partitions", Buffer.from("after"));
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  await directory.start();
  t.after(() => directory.stop());
  const { highest } = directory;
  const stale = bucket.get.bind(bucket);
  const isRead = Promise.withResolvers<void>();
  bucket.get = async (key) => {
    isRead.resolve();
    const entry = await stale(key);
    return entry === null ? null : { ...entry, value: Buffer.from("before"), revision: 1 };
  };
  await clock.advance(1_000);
  await isRead.promise;
  directory.stored(await bucket.put("else", Buffer.from("x")), highest);
  await clock.advance(1_000);
  assert.equal(String(directory.shared("partitions")?.value), "after");
});

test("a record that can't be read ends neither the start nor the watch, and counts once", async (t) => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const metrics = new Metrics();
  const put = (id: string, value: string): Promise<number> => bucket.put(memberKey(id), Buffer.from(value));
  const record = (id: string): string =>
    JSON.stringify({ id, name: id, state: "live", durationMs: MEMBER_LEASE_MS, session: "s" });
  await put("a", record("a"));
  await put("b", "{");
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics });
  await directory.start();
  t.after(() => directory.stop());
  const becomes = async (id: string, isThere: boolean): Promise<void> => {
    while ((directory.get(id) !== undefined) !== isThere) await turn();
  };
  const nameless = '{"id":1,"name":"a","state":"live","durationMs":1}';
  const sessionless = '{"id":"a","name":"b","state":"live","durationMs":1}';
  for (const harm of [record("x"), "null", "[]", '{"id":"a"}', nameless, sessionless, ""]) {
    await put("a", harm);
    await put("c", record("c"));
    await becomes("c", true);
    assert.equal(directory.get("a")?.record.name, "a", "what is known of it stays");
    await bucket.delete(memberKey("c"));
    await becomes("c", false);
  }
  for (let second = 0; second < 20; second++) await clock.advance(1_000);
  assert.match(await metrics.text(), /tailrace_cluster_records_skipped_total 8\n/);
  assert.deepEqual(directory.get("b")?.record.doc, null, "a hub that may run, and need all of the log");
  await put("b", record("b"));
  while (directory.get("b")?.record.session !== "s") await turn();
});

test("a change that a listener can't apply doesn't end the watch", async (t) => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const directory = new MemberDirectory({ bucket, clock, log: silentLogger(), metrics: new Metrics() });
  await directory.start();
  t.after(() => directory.stop());
  directory.onChange(() => void JSON.parse(String(directory.shared("partitions")?.value)));
  await bucket.put("partitions", Buffer.from("{"));
  await bucket.put("partitions", Buffer.from("{}"));
  while (String(directory.shared("partitions")?.value) !== "{}") await turn();
});
