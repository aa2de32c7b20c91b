import assert from "node:assert/strict";
import { test } from "node:test";
import { Incarnations } from "#hub/journal/streams/log-history.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { type Position, START } from "#proto/position.ts";
import { LogJanitor, ProcessedFloor, type StreamState } from "./log-janitor.ts";

/** A stream of messages of 100 bytes, and its janitor. */
class World {
  nowMs = 0;
  asked = 0;
  state: StreamState;
  beforePurge: (position: Position) => Promise<void> = () => Promise.resolve();
  done: Position;
  doneIfTight: Position;
  lives = new Incarnations();
  readonly #janitor: LogJanitor;

  constructor({ messages, done, maxBytes = 0 }: { messages: number; done: number; maxBytes?: number }) {
    this.state = {
      bytes: 100 * messages,
      maxBytes,
      incarnation: 1,
      firstSequence: 1,
      lastSequence: messages,
    };
    this.done = at(done);
    this.doneIfTight = this.done;
    this.#janitor = new LogJanitor({
      clock: { now: () => 0, monotonic: () => this.nowMs } as Clock,
      log: silentLogger(),
      keepBytes: 1_000,
      keepMs: 60_000,
      streams: [
        {
          name: "DOC",
          done: (isTight) => (isTight ? this.doneIfTight : this.done),
          beforePurge: (position) => this.beforePurge(position),
        },
      ],
      state: () => {
        this.asked++;
        return Promise.resolve({ ...this.state, incarnation: this.lives.current.incarnation });
      },
      positionOf: (_stream, sequence) => this.lives.positionOf(sequence),
      sequenceAt: (_stream, position) => this.lives.nextAfter(position) - 1,
      purge: (_stream, { sequence }) => {
        const firstSequence = sequence + 1;
        const bytes = 100 * (this.state.lastSequence - sequence);
        this.state = { ...this.state, firstSequence, bytes };
        return Promise.resolve();
      },
    });
  }

  /** Returns the first sequence that is left after a sweep, `laterMs` later. */
  async sweep(laterMs = 2_000): Promise<number> {
    this.nowMs += laterMs;
    await this.#janitor.sweep();
    return this.state.firstSequence;
  }
}

const at = (sequence: number) => ({ incarnation: 1, sequence });

test("a part of RAW is done with once the documents written until then are committed", () => {
  const floor = new ProcessedFloor();
  assert.equal(floor.advance(at(10), at(100), START).sequence, 0, "nothing is committed yet");
  assert.equal(floor.advance(at(20), at(200), at(99)).sequence, 0, "the last document isn't");
  assert.equal(floor.advance(at(20), at(200), at(100)).sequence, 10);
  assert.equal(floor.advance(at(30), at(300), at(200)).sequence, 20);
});

test("a position of a new incarnation of DOC is after all of the old one", () => {
  const floor = new ProcessedFloor();
  floor.advance(at(10), { incarnation: 2, sequence: 1 }, START);
  assert.equal(floor.advance(at(10), at(5), at(1_000)).sequence, 0);
  assert.equal(floor.advance(at(10), at(5), { incarnation: 2, sequence: 1 }).sequence, 10);
});

test("a position of RAW that goes back, as partitions were taken over, is done with anew", () => {
  const floor = new ProcessedFloor();
  floor.advance(at(20), at(200), at(1_000));
  assert.equal(floor.advance(at(30), at(300), at(1_000)).sequence, 20);
  assert.equal(floor.advance(at(5), at(300), at(1_000)).sequence, 0);
  assert.equal(floor.advance(at(40), at(400), at(1_000)).sequence, 5);
});

test("processed messages beyond those that are kept are purged, others stay", async () => {
  const world = new World({ messages: 100, done: 5 });
  assert.equal(await world.sweep(), 1, "few are processed");
  world.done = at(40);
  assert.equal(await world.sweep(), 31, "ten messages stay before those that aren't processed");
  world.done = at(95);
  assert.equal(await world.sweep(), 86);
  assert.equal(await world.sweep(), 86);
});

test("what is purged is noted before, and nothing is where that fails", async () => {
  const world = new World({ messages: 100, done: 60 });
  const noted: Position[] = [];
  world.beforePurge = (position) => {
    assert.equal(world.state.firstSequence, 1);
    noted.push(position);
    return Promise.reject(new Error("not stored"));
  };
  assert.equal(await world.sweep(), 1);
  world.beforePurge = (position) => Promise.resolve(void noted.push(position));
  assert.equal(await world.sweep(), 51);
  assert.deepEqual(noted, [at(50), at(50)]);
});

test("what a version before has purged is noted in the first sweep, also of a log that is empty", async () => {
  const world = new World({ messages: 100, done: 0 });
  const noted: Position[] = [];
  world.beforePurge = (position) => Promise.resolve(void noted.push(position));
  world.state = { ...world.state, bytes: 0, firstSequence: 101 };
  await world.sweep();
  await world.sweep();
  assert.deepEqual(noted, [at(100)]);
});

test("a purge of a log that was set back is noted with the incarnation of its messages, not with a newer one", async () => {
  const world = new World({ messages: 100, done: 60 });
  world.lives = world.lives.raise(100, 0);
  const noted: Position[] = [];
  world.beforePurge = (position) => Promise.resolve(void noted.push(position));
  assert.equal(await world.sweep(), 51);
  assert.deepEqual(noted, [at(50)], "messages 51 to 100 are behind it");
});

test("messages are all purged when nothing came for long, and all is processed", async () => {
  const world = new World({ messages: 10, done: 9 });
  await world.sweep();
  assert.equal(await world.sweep(60_000), 1, "one isn't processed");
  world.done = at(10);
  assert.equal(await world.sweep(), 11);
  world.state = { ...world.state, bytes: 100, lastSequence: 11 };
  world.done = at(11);
  assert.equal(await world.sweep(), 11, "a new message came");
  assert.equal(await world.sweep(60_000), 12);
});

test("the state of a stream of which all is processed is asked for each 10 s, until more is", async () => {
  const world = new World({ messages: 10, done: 9 });
  for (let sweeps = 0; sweeps < 3; sweeps++) await world.sweep();
  assert.equal(world.asked, 3, "one waits");
  world.done = at(10);
  for (let sweeps = 0; sweeps < 10; sweeps++) await world.sweep();
  assert.equal(world.asked, 5);
  world.state = { ...world.state, bytes: 2_000, lastSequence: 20 };
  world.done = at(20);
  assert.equal(await world.sweep(), 11);
  assert.equal(world.asked, 6);
});

test("a small stream keeps at most a quarter of what it may have", async () => {
  const world = new World({ messages: 10, done: 10, maxBytes: 1_200 });
  assert.equal(await world.sweep(), 8);
});

test("hubs that were stopped are waited for until a quarter of the space is used", async () => {
  const world = new World({ messages: 20, done: 0, maxBytes: 8_000 });
  world.doneIfTight = at(20);
  assert.equal(await world.sweep(), 1);
  world.state = { ...world.state, bytes: 2_100, lastSequence: 21 };
  assert.equal(await world.sweep(), 11);
});

test("of a stream that was rolled back, processed messages are purged before new ones come", async () => {
  const world = new World({ messages: 100, done: 120 });
  world.lives = world.lives.raise(100, 1);
  assert.equal(await world.sweep(), 91);
  assert.equal(await world.sweep(60_000), 101);
});

test("nothing is purged of a stream that was made anew, or whose progress isn't known", async () => {
  const anew = new World({ messages: 100, done: 100 });
  anew.lives = anew.lives.raise(0, 1);
  const unknown = new World({ messages: 100, done: 100 });
  unknown.done = START;
  const later = new World({ messages: 100, done: 100 });
  later.done = { incarnation: 2, sequence: 100 };
  for (const world of [anew, unknown, later]) assert.equal(await world.sweep(60_000), 1);
});
