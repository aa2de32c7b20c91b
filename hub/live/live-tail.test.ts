import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { events, numbered, openTail, startHub } from "#test/support/live/live-harness.ts";

test("no more rows are sent than there is credit for", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { credit: 3 });
  hub.live.tail.offer(events(numbered(0, 10)));
  assert.deepEqual((await client.take(3)).texts, numbered(0, 3));
  client.send({ t: "ping", n: 1 });
  await client.next("pong");
  assert.deepEqual(client.messages, []);
  client.send({ t: "tail.credit", sub: 1, add: 7 });
  assert.deepEqual((await client.take(7)).texts, numbered(3, 10));
});

test("what doesn't fit the ring is dropped from its start and counted", async () => {
  const hub = await startHub({ ringRows: 100 });
  const client = await openTail(hub, { credit: 0 });
  hub.live.tail.offer(events(numbered(0, 1_000)));
  client.send({ t: "tail.credit", sub: 1, add: 100 });
  const gap = await client.next("tail.gap");
  assert.deepEqual(gap, { t: "tail.gap", sub: 1, n: 900, fromTs: 1_000, toTs: 1_899, why: "slow_client" });
  assert.deepEqual((await client.take(100)).texts, numbered(900, 1_000));
});

test("a ring is bounded in bytes too", async () => {
  const hub = await startHub({ ringSizeBytes: 10_000 });
  const client = await openTail(hub, { credit: 0 });
  hub.live.tail.offer(events(numbered(0, 50).map((text) => text.padEnd(1_000, "."))));
  client.send({ t: "tail.credit", sub: 1, add: 100 });
  const gap = await client.next("tail.gap");
  assert.ok(gap.n >= 40 && gap.n < 50, `gap of ${gap.n}`);
  assert.equal((await client.take(50 - gap.n)).texts.length, 50 - gap.n);
});

test("above the rate rows are left out and counted at their position", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { maxRate: 5 });
  hub.live.tail.offer(events(numbered(0, 12)));
  assert.deepEqual((await client.take(5)).texts, numbered(0, 5));
  const gap = await client.next("tail.gap");
  assert.deepEqual([gap.n, gap.why, gap.fromTs, gap.toTs], [7, "rate_cap", 1_005, 1_011]);
});

test("a paused tail sends nothing, and resumes with one gap and the newest rows", async () => {
  const hub = await startHub({ ringRows: 10 });
  const client = await openTail(hub);
  client.send({ t: "tail.pause", sub: 1 });
  client.send({ t: "ping", n: 1 });
  await client.next("pong");
  hub.live.tail.offer(events(numbered(0, 25)));
  client.send({ t: "ping", n: 2 });
  await client.next("pong");
  client.send({ t: "tail.resume", sub: 1 });
  const gap = await client.next("tail.gap");
  assert.deepEqual([gap.n, gap.why], [15, "paused"]);
  assert.deepEqual((await client.take(10)).texts, numbered(15, 25));
});

test("counts are sent each second", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { credit: 4, maxRate: 6 });
  hub.live.tail.offer(events(numbered(0, 10)));
  const stats = await client.next("tail.stats");
  assert.deepEqual([stats.matched, stats.sent, stats.dropped], [10, 4, 4]);
  assert.ok(stats.lagMs >= 0);
});

test("a viewer who comes back with a cursor misses nothing and gets nothing twice", async () => {
  const hub = await startHub();
  const first = await openTail(hub);
  hub.live.tail.offer(events(numbered(0, 5)));
  const { batches } = await first.take(5);
  first.socket.close();
  await once(first.socket, "close");
  hub.live.tail.offer(events(numbered(5, 9)));
  const second = await openTail(hub, { from: batches.at(-1)!.cursor });
  hub.live.tail.offer(events(numbered(9, 12)));
  const { texts, gaps } = await second.take(7);
  assert.deepEqual(texts, numbered(5, 12));
  assert.equal(gaps, 0);
});

test("a cursor of another hub's run is answered with a gap of unknown size", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { from: "bm9uc2Vuc2U" });
  const gap = await client.next("tail.gap");
  assert.deepEqual([gap.n, gap.why], [0, "hub_restart"]);
});

test("a tail can begin with the last lines that match", async () => {
  const hub = await startHub();
  await openTail(hub);
  hub.live.tail.offer(events(["a 1", "b 1", "a 2", "a 3"]));
  const client = await openTail(hub, { q: "a", from: { last: 2 } });
  assert.deepEqual((await client.take(2)).texts, ["a 2", "a 3"]);
});

test("a long message is cut and marked", async () => {
  const hub = await startHub();
  const client = await openTail(hub);
  hub.live.tail.offer(events(["x".repeat(9_000)]));
  const { batches } = await client.take(1);
  assert.equal(batches[0]!.rows[0]![4].length, 8_192);
  assert.equal(batches[0]!.rows[0]![6], 1);
});

test("a client that reads nothing costs a bounded amount and is disconnected; others continue", async () => {
  const hub = await startHub({ bufferedStopBytes: 64 * 1024, slowCloseMs: 50, ringRows: 50 });
  const slow = await openTail(hub, { credit: 20_000, maxRate: 20_000 });
  const quick = await openTail(hub, { q: "last" });
  slow.socket.pause();
  const line = "x".repeat(8_000);
  const ended = new Promise<void>((resolve) => {
    const offer = setInterval(() => {
      hub.live.tail.offer(events(Array.from({ length: 100 }, () => line)));
      if (hub.live.tail.openTails === 1) {
        clearInterval(offer);
        resolve();
      }
    }, 5);
  });
  await ended;
  hub.live.tail.offer(events(["last"]));
  assert.deepEqual((await quick.take(1)).texts, ["last"]);
  slow.socket.resume();
  assert.equal((await once(slow.socket, "close"))[0], 4408);
});

test("values that nest deeper than the stack are neither searched nor sent", async () => {
  const hub = await startHub();
  const client = await openTail(hub, { fields: ["deep", "a.b"], q: "NOT deep:z AND NOT a.b:z" });
  const depth = 200_000;
  const nested = `${"[".repeat(depth)}"x"${"]".repeat(depth)}`;
  const source = Buffer.from(`{"message":"one","deep":${nested},"a":${nested}}`);
  hub.live.offer([{ index: "logs-1", id: "1", timestampMs: 1, source }, ...events(["two"])]);
  assert.deepEqual((await client.take(2)).texts, ["one", "two"]);
});
