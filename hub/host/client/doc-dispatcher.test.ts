import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { DocEntry } from "#hub/cluster/shards/log-follower.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";
import { docSubject } from "#proto/subjects.ts";
import { type AddressedDoc, DocDispatcher } from "./doc-dispatcher.ts";

const HOSTS = 2;
const at = (sequence: number): Position => ({ incarnation: 1, sequence });

/** The host of the message with a sequence: its shard is 0 for odd ones. */
const ownerOfMessage = (sequence: number): number => ownerOf("uuid", (sequence + 1) % 2, HOSTS);
const ODD = ownerOfMessage(1);
const EVEN = ownerOfMessage(2);

/** A log of `count` messages, of which those up to `purged` are gone; at its end reading waits. */
async function* logOf(
  count: number,
  after: Position,
  signal: AbortSignal,
  purged = 0,
): AsyncIterable<AddressedDoc> {
  if (after.sequence < purged) throw new AppError("journal_gap", "purged");
  for (let sequence = after.sequence + 1; sequence <= count && !signal.aborted; sequence++)
    yield {
      subject: docSubject("uuid", (sequence + 1) % 2),
      position: at(sequence),
      data: Buffer.from(String(sequence)),
    };
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** Reads entries of a host until one is at `last` or behind it; returns the sequences of messages. */
async function readTo(entries: AsyncIterable<DocEntry>, last: number): Promise<number[]> {
  const got: number[] = [];
  for await (const { position, data } of entries) {
    if (data !== null) got.push(Number(Buffer.from(data).toString()));
    if (position.sequence >= last) break;
  }
  return got;
}

const odd = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((each) => each % 2 === 1);

suite("messages of DOC for two hosts", () => {
  test("each host gets those of its shards once, in order, and learns how far the others' reach", async () => {
    const dispatcher = new DocDispatcher((after, signal) => logOf(100, after, signal), HOSTS, systemClock);
    const { signal } = new AbortController();
    const [first, second] = await Promise.all([
      readTo(dispatcher.readerOf(ODD)(at(0), signal), 100),
      readTo(dispatcher.readerOf(EVEN)(at(40), signal), 100),
    ]);
    assert.deepEqual(first, odd(1, 100));
    assert.deepEqual(
      second,
      odd(41, 100).map((each) => each + 1),
    );
  });

  test("a host that begins again gets what it needs again, and the other goes on", async () => {
    const dispatcher = new DocDispatcher((after, signal) => logOf(100, after, signal), HOSTS, systemClock);
    const { signal } = new AbortController();
    const other = readTo(dispatcher.readerOf(EVEN)(at(0), signal), 100);
    assert.deepEqual(await readTo(dispatcher.readerOf(ODD)(at(0), signal), 51), odd(1, 51));
    assert.deepEqual(await readTo(dispatcher.readerOf(ODD)(at(20), signal), 100), odd(21, 100));
    assert.deepEqual(
      await other,
      odd(1, 99).map((each) => each + 1),
    );
  });

  test("a host that takes nothing is left behind after a while, and gets all later", async () => {
    // The time is over as soon as somebody waits for it.
    const hurried: Clock = { ...systemClock, sleep: () => Promise.resolve() };
    const dispatcher = new DocDispatcher((after, signal) => logOf(200, after, signal), HOSTS, hurried);
    const { signal } = new AbortController();
    const slow = dispatcher.readerOf(ODD)(at(0), signal)[Symbol.asyncIterator]();
    const first = await slow.next();
    assert.equal(first.done !== true && first.value.position.sequence, 1);
    const other = await readTo(dispatcher.readerOf(EVEN)(at(0), signal), 200);
    assert.deepEqual(
      other,
      odd(1, 199).map((each) => each + 1),
    );
    assert.deepEqual(await readTo({ [Symbol.asyncIterator]: () => slow }, 199), odd(3, 199));
  });

  test("a gap of the log is thrown to the host that needs it, and to no other", async () => {
    const dispatcher = new DocDispatcher(
      (after, signal) => logOf(100, after, signal, 50),
      HOSTS,
      systemClock,
    );
    const { signal } = new AbortController();
    const other = readTo(dispatcher.readerOf(EVEN)(at(60), signal), 100);
    await assert.rejects(readTo(dispatcher.readerOf(ODD)(at(10), signal), 100), { code: "journal_gap" });
    assert.deepEqual(await readTo(dispatcher.readerOf(ODD)(at(50), signal), 99), odd(51, 99));
    assert.deepEqual(
      await other,
      odd(61, 99).map((each) => each + 1),
    );
  });

  test("a reading that is ended yields nothing more", async () => {
    const dispatcher = new DocDispatcher((after, signal) => logOf(10, after, signal), HOSTS, systemClock);
    const abort = new AbortController();
    const reading = readTo(dispatcher.readerOf(ODD)(at(0), abort.signal), 1_000);
    abort.abort();
    assert.ok((await reading).length <= 5);
  });
});
