import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentEvents } from "./recent-events.ts";

/** Events whose bytes are their number, of sizes around those of a block. */
function eventOf(number: number, size: number): Parameters<RecentEvents["push"]>[0] {
  return {
    index: "logs",
    id: String(number),
    timestampMs: number,
    source: Buffer.alloc(size, number),
  };
}

const SMALL = { events: 1_000, sizeBytes: 256 * 1024, blockBytes: 16 * 1024 };

test("events keep their bytes while others are forgotten, whatever their sizes", () => {
  const recent = new RecentEvents(SMALL);
  const sizes = [5, 11_000, SMALL.blockBytes, 47_000, 1, 0, 8_000, 31_000, 600];
  for (let number = 1; number <= 400; number++) {
    const size = sizes[(number * 7) % sizes.length]!;
    const event = eventOf(number, size);
    assert.equal(recent.push(event), number);
    event.source.fill(0xff);
  }
  const { complete, events } = recent.after(0);
  assert.equal(complete, false);
  assert.ok(events.length > 10);
  assert.equal(events.at(-1)!.sequence, 400);
  const kept = events.reduce((sum, { event }) => sum + event.source.length, 0);
  assert.ok(kept <= SMALL.sizeBytes, `${kept} bytes`);
  for (const { sequence, event } of events) {
    assert.equal(event.id, String(sequence));
    const pushed = eventOf(sequence, sizes[(sequence * 7) % sizes.length]!);
    assert.ok(Buffer.from(pushed.source).equals(event.source), `event ${sequence}`);
  }
});

test("small events share a few blocks, however many pass", () => {
  const recent = new RecentEvents(SMALL);
  for (let number = 1; number <= 5_000; number++) recent.push(eventOf(number, 100));
  const { events } = recent.after(0);
  assert.equal(events.length, SMALL.events);
  const blocks = new Set(events.map(({ event }) => event.source.buffer));
  assert.ok(blocks.size <= 8, `${blocks.size} blocks`);
});

test("a hub keeps 20,000 events of 16 MiB together, in blocks of 1 MiB", () => {
  const recent = new RecentEvents();
  for (let number = 1; number <= 20_001; number++) recent.push(eventOf(number, 1));
  const { events } = recent.after(0);
  assert.equal(events.length, 20_000);
  assert.equal(events[0]!.event.source.buffer.byteLength, 1024 * 1024);
  const large = new RecentEvents();
  const event = eventOf(1, 2 * 1024 * 1024);
  for (let number = 1; number <= 9; number++) large.push(event);
  assert.equal(large.after(0).events.length, 8);
});

test("after the events were forgotten a cursor of before is incomplete", () => {
  const recent = new RecentEvents();
  recent.push(eventOf(1, 300));
  recent.clear();
  recent.push(eventOf(2, 300));
  const { complete, events } = recent.after(1);
  assert.deepEqual([complete, events.length, events[0]!.event.id], [false, 1, "2"]);
});
