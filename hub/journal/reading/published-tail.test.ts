import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { PublishedTail } from "./published-tail.ts";

function make() {
  const clock = new StillClock();
  const tail = new PublishedTail(clock);
  const stop = new AbortController();
  const add = (...sequences: readonly number[]): void => {
    for (const sequence of sequences)
      tail.add({ subject: "s", sequence, data: Buffer.from(`${sequence}`), messageId: "", timeMs: 0 });
  };
  /** Follows from `next` on; `ended` resolves with what was yielded. */
  const follow = (next: number) => {
    const got: number[] = [];
    const ended = (async () => {
      for await (const { sequence, data } of tail.follow(next, stop.signal)) {
        assert.equal(Buffer.from(data).toString(), `${sequence}`);
        got.push(sequence);
      }
      return got;
    })();
    return { got, ended };
  };
  return { clock, tail, stop, add, follow };
}

/** Lets what is ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

suite("who follows a stream's tail", () => {
  test("gets existing and new messages, in order", async () => {
    const { tail, stop, add, follow } = make();
    add(7, 5, 6);
    const { got, ended } = follow(5);
    await turn();
    assert.deepEqual(got, [5, 6, 7]);
    add(8);
    await turn();
    assert.deepEqual(got, [5, 6, 7, 8]);
    assert.equal(tail.sizeBytes, 0);
    stop.abort();
    assert.deepEqual(await ended, [5, 6, 7, 8]);
  });

  test("waits a moment for an acknowledgement that is late", async () => {
    const { clock, stop, add, follow } = make();
    add(5, 7);
    const { got, ended } = follow(5);
    await clock.advance(30);
    add(6);
    await turn();
    assert.deepEqual(got, [5, 6, 7]);
    stop.abort();
    await ended;
  });

  test("is sent to the server where one is missing, and where nothing comes", async () => {
    const { clock, add, follow } = make();
    add(5, 7);
    const withHole = follow(5);
    await clock.advance(100);
    assert.deepEqual(await withHole.ended, [5]);
    const afterIt = follow(7);
    await clock.advance(300);
    assert.deepEqual(await afterIt.ended, [7]);
  });

  test("gets nothing from before a cut", async () => {
    const { tail, add, follow } = make();
    const { ended } = follow(5);
    add(6);
    tail.cut();
    assert.deepEqual(await ended, []);
    assert.equal(tail.has(6), false);
    assert.equal(tail.sizeBytes, 0);
  });
});

suite("a tail goes on", () => {
  const run = [1, 2, 3, 4, 5, 6, 7, 8];

  test("where a run of acknowledgements has no hole and the reader's next one is there, or comes", async () => {
    const { clock, tail, add } = make();
    add(...run.slice(0, 7));
    await clock.advance(1_000);
    add(...run.slice(7));
    assert.ok(tail.canServe(1));
    for (const sequence of run) tail.passed(sequence);
    assert.ok(tail.canServe(9));
    assert.equal(tail.canServe(8), false, "the reader is elsewhere");
    assert.equal(tail.sizeBytes, 0);
  });

  test("not where others store between them, nor where nothing came for a while", async () => {
    const { clock, tail, add } = make();
    add(1, 3, 5, 7, 9, 11, 13, 15, 17);
    assert.equal(tail.canServe(17), false);
    await clock.advance(1_000);
    add(18, 19, 20, 21, 22, 23, 24);
    assert.ok(tail.canServe(17));
    await clock.advance(300);
    assert.equal(tail.canServe(17), false);
  });

  test("not before this process alone has stored for a second", async () => {
    const { clock, tail, add } = make();
    add(1, 2, 3, 4, 5, 6, 7, 8);
    assert.equal(tail.canServe(9), false, "others may store as well, a moment later");
    await clock.advance(900);
    add(9);
    assert.equal(tail.canServe(10), false);
    await clock.advance(100);
    add(10);
    assert.equal(tail.canServe(11), true);
    add(12);
    assert.equal(tail.canServe(13), false, "another process has stored 11");
  });

  test("not after a cut", async () => {
    const { clock, tail, add } = make();
    add(...run);
    await clock.advance(1_000);
    add(9);
    tail.cut();
    assert.equal(tail.canServe(10), false);
  });
});

test("a tail is bounded: further messages stay on the server", () => {
  const { tail } = make();
  const data = Buffer.alloc(10 * 1024 ** 2);
  for (let sequence = 1; sequence <= 5; sequence++)
    tail.add({ subject: "s", sequence, data, messageId: "", timeMs: 0 });
  assert.equal(tail.sizeBytes, 3 * data.length);
  assert.equal(tail.has(4), false);
});

test("what the reader has passed isn't kept when its acknowledgement comes later", () => {
  const { tail, add } = make();
  tail.passed(3);
  add(2, 3, 4);
  assert.deepEqual(
    [2, 3, 4].map((sequence) => tail.has(sequence)),
    [false, false, true],
  );
});
