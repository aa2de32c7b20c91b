import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { type Position, START } from "#proto/position.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Incarnations, LogHistory, type StreamReader } from "./log-history.ts";
import type { StreamState } from "./stream-store.ts";

class FakeStream {
  identity = "a";
  first = 1;
  last = 0;

  state(name: string): Promise<StreamState> {
    const { identity, first: firstSequence, last: lastSequence } = this;
    return Promise.resolve({
      name,
      identity,
      firstSequence,
      lastSequence,
      messages: lastSequence - firstSequence + 1,
      bytes: 0,
      maxBytes: 0,
      replicas: 1,
      hasMajority: true,
    });
  }
}

interface Case {
  name: string;
  /** Positions somebody took in. */
  known: Position[];
  /** The stream as the hub finds it. */
  stream: { first?: number; last: number; identity?: string };
  /** Messages that were there when the server started. */
  restored?: number;
  /** The new incarnation and its first sequence; undefined: as before. */
  raised?: [incarnation: number, firstSequence: number];
}

const at = (incarnation: number, sequence: number): Position => ({ incarnation, sequence });

const CASES: Case[] = [
  { name: "an untouched stream", known: [at(1, 100)], stream: { last: 100 } },
  { name: "a stream that has more than was taken in", known: [at(1, 40), at(1, 60)], stream: { last: 100 } },
  { name: "a purged stream", known: [at(1, 100)], stream: { first: 101, last: 100 } },
  { name: "nothing remembered", known: [], stream: { last: 100 } },
  {
    name: "a stream that ends before what was taken in",
    known: [at(1, 40), at(1, 100)],
    stream: { last: 60 },
    raised: [2, 61],
  },
  { name: "an emptied stream", known: [at(1, 100)], stream: { last: 0 }, raised: [2, 1] },
  {
    name: "a stream made anew, even with more messages",
    known: [at(1, 100)],
    stream: { last: 500, identity: "b" },
    raised: [2, 1],
  },
  {
    name: "a stream made anew with nothing remembered",
    known: [],
    stream: { last: 5, identity: "b" },
    raised: [2, 1],
  },
  { name: "a bucket that forgot incarnations", known: [at(5, 10)], stream: { last: 100 }, raised: [6, 101] },
  {
    name: "a rolled back stream that clients filled again before anybody looked",
    known: [at(1, 100)],
    stream: { last: 200 },
    restored: 60,
    raised: [2, 61],
  },
  { name: "new messages behind an untouched end", known: [at(1, 100)], stream: { last: 200 }, restored: 100 },
  {
    name: "new messages in a stream that was purged whole",
    known: [at(1, 100)],
    stream: { first: 101, last: 200 },
    restored: 0,
  },
];

describe("reconciling a stream with the remembered positions", () => {
  for (const { name, known, stream, restored, raised } of CASES) {
    test(`${name} ${raised === undefined ? "stays in its incarnation" : "begins a new incarnation"}`, async () => {
      const fake = new FakeStream();
      const reported: unknown[] = [];
      const open = (): LogHistory =>
        new LogHistory({
          streams: fake,
          bucket,
          log: silentLogger(),
          onRaise: (...args) => reported.push(args),
        });
      const bucket = new MemoryBucket();
      await open().reconcile("RAW", []);
      Object.assign(fake, stream);
      const history = open();
      const result = await history.reconcile("RAW", known, restored);
      assert.deepEqual(result, { incarnation: raised?.[0] ?? 1, raised: raised !== undefined });
      assert.equal(history.of("RAW").current.firstSequence, raised?.[1] ?? 1);
      assert.deepEqual(reported, raised === undefined ? [] : [["RAW", raised[0]]]);
      const again = open();
      assert.deepEqual(await again.reconcile("RAW", []), {
        ...result,
        raised: false,
      });
    });
  }

  test("two hubs that detect the loss together begin one incarnation", async () => {
    const fake = new FakeStream();
    const bucket = new MemoryBucket();
    const open = (): LogHistory =>
      new LogHistory({ streams: fake, bucket, log: silentLogger(), onRaise: () => undefined });
    await open().reconcile("RAW", []);
    Object.assign(fake, { last: 60 });
    const results = await Promise.all([1, 2].map(() => open().reconcile("RAW", [at(1, 100)])));
    assert.deepEqual(
      results.map(({ incarnation }) => incarnation),
      [2, 2],
    );
  });

  test("before anything is known of a stream its incarnation isn't guessed", () => {
    const history = new LogHistory({
      streams: new FakeStream(),
      bucket: new MemoryBucket(),
      log: silentLogger(),
      onRaise: () => undefined,
    });
    assert.throws(() => history.of("RAW"), { code: "unavailable" });
  });
});

const position = (incarnation: number, sequence: number) => ({ incarnation, sequence });

/** 1: 1..60, 2: 61..70, 3: from 71. */
const three = new Incarnations().raise(60, 1).raise(70, 2);

describe("incarnations", () => {
  test("a new stream is in its first life from its first message", () => {
    const lives = new Incarnations();
    assert.deepEqual(lives.current, { incarnation: 1, firstSequence: 1 });
    assert.equal(lives.nextAfter(START), 1);
    assert.equal(lives.nextAfter(position(1, 7)), 8);
  });

  test("each message belongs to the life in which it was stored", () => {
    const rows = [1, 60, 61, 70, 71, 1_000].map((sequence) => three.positionOf(sequence).incarnation);
    assert.deepEqual(rows, [1, 1, 2, 2, 3, 3]);
  });

  for (const [name, from, next] of [
    ["within an older life the reading goes on in it", position(1, 40), 41],
    ["at the end of an older life it goes on in the next", position(1, 60), 61],
    [
      "behind the end of an older life, where messages were lost, it goes on in the next",
      position(1, 100),
      61,
    ],
    ["in a middle life the same holds", position(2, 65), 66],
    ["behind the end of a middle life too", position(2, 99), 71],
    ["in the newest life it goes on at the next message", position(3, 80), 81],
  ] as const) {
    test(name, () => assert.equal(three.nextAfter(from), next));
  }

  test("a rollback to before a life removes that life, and its positions go on in the new one", () => {
    const lives = three.raise(50, 3);
    assert.deepEqual(lives.toArray(), [
      { incarnation: 1, firstSequence: 1 },
      { incarnation: 4, firstSequence: 51 },
    ]);
    assert.equal(lives.nextAfter(position(2, 65)), 51);
    assert.equal(lives.nextAfter(position(1, 49)), 50);
  });

  test("a recreated stream has only the new incarnation", () => {
    const lives = three.raise(0, 3);
    assert.deepEqual(lives.toArray(), [{ incarnation: 4, firstSequence: 1 }]);
    assert.equal(lives.nextAfter(position(3, 500)), 1);
  });

  test("an incarnation that others remember is never given again", () => {
    assert.equal(new Incarnations().raise(10, 7).current.incarnation, 8);
  });

  test("a position of an unknown incarnation is an error, not a guess", () => {
    assert.throws(() => three.nextAfter(position(4, 1)), { code: "journal_gap" });
  });

  test("positions only grow over any number of rollbacks", () => {
    let lives = new Incarnations();
    let newest = position(1, 100);
    for (const end of [90, 95, 20, 0, 3, 50]) {
      lives = lives.raise(end, 0);
      const first = lives.positionOf(lives.nextAfter(newest));
      assert.ok(first.incarnation > newest.incarnation);
      assert.equal(first.sequence, end + 1);
      newest = position(first.incarnation, end + 50);
    }
  });
});

test("a stream that was lost together with its history is known to be made anew, whatever it has by then", async () => {
  const [stream, bucket] = [new FakeStream(), new MemoryBucket()];
  const history = new LogHistory({ streams: stream, bucket, log: silentLogger(), onRaise: () => undefined });
  stream.last = 6;
  await history.reconcile("RAW", [at(1, 6)]);
  stream.last = 4;
  await history.reconcile("RAW", [at(1, 6)]);
  bucket.lose();
  Object.assign(stream, { identity: "b", last: 2 });
  assert.deepEqual(await history.reconcile("RAW", [at(2, 5)]), { incarnation: 3, raised: true });
  assert.deepEqual(history.of("RAW").positionOf(1), at(3, 1), "an agent was quicker than the hub");
  assert.deepEqual(await history.reconcile("RAW", [at(3, 2)]), { incarnation: 3, raised: false });
});

for (const seen of [[], [at(2, 5)]])
  test(`incarnations don't begin anew where a hub without memory stores a lost stream first; ${seen.length} position known`, async () => {
    const [stream, bucket] = [new FakeStream(), new MemoryBucket()];
    const options = { streams: stream, bucket, log: silentLogger(), onRaise: () => undefined };
    const history = new LogHistory(options);
    stream.last = 6;
    await history.reconcile("RAW", [at(1, 6)]);
    stream.last = 4;
    await history.reconcile("RAW", [at(1, 6)]);
    bucket.lose();
    Object.assign(stream, { identity: "b", last: 2 });
    const other = new LogHistory(options);
    assert.deepEqual(await other.reconcile("RAW", []), { incarnation: 1, raised: false });
    assert.deepEqual(await history.reconcile("RAW", seen), { incarnation: 3, raised: true });
    assert.deepEqual(await other.reconcile("RAW", []), { incarnation: 3, raised: false });
    assert.deepEqual(await history.reconcile("RAW", seen), { incarnation: 3, raised: false });
  });

test("a loss that a second answer of the log doesn't confirm raises nothing", async () => {
  const [stream, bucket] = [new FakeStream(), new MemoryBucket()];
  const answers = [90, 120];
  const streams: StreamReader = {
    async state(name, isLost) {
      const answer = (): Promise<StreamState> => {
        stream.last = answers.shift()!;
        return stream.state(name);
      };
      const first = await answer();
      return isLost(first) ? answer() : first;
    },
  };
  const history = new LogHistory({ streams, bucket, log: silentLogger(), onRaise: () => undefined });
  assert.deepEqual(await history.reconcile("RAW", [at(1, 100)]), { incarnation: 1, raised: false });
  assert.deepEqual(answers, []);
});

test("an older entry of the bucket makes a known incarnation no older, and is replaced", async () => {
  const [stream, bucket] = [new FakeStream(), new MemoryBucket()];
  const raised: number[] = [];
  const onRaise = (_: string, incarnation: number): void => void raised.push(incarnation);
  const history = new LogHistory({ streams: stream, bucket, log: silentLogger(), onRaise });
  stream.last = 6;
  await history.reconcile("RAW", [at(1, 6)]);
  const older = (await bucket.get("RAW"))!.value;
  stream.last = 4;
  await history.reconcile("RAW", [at(1, 6)]);
  await bucket.put("RAW", older);
  assert.deepEqual(await history.reconcile("RAW", []), { incarnation: 2, raised: false });
  assert.deepEqual([history.of("RAW").current.incarnation, raised], [2, [2]]);
  assert.equal((await history.stored("RAW")).current.incarnation, 2);
});
