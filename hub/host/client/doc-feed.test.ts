import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { DocMessage } from "#hub/cluster/shards/log-follower.ts";
import { DocStream } from "#hub/host/doc-stream.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";
import { DocFeed } from "./doc-feed.ts";

const at = (sequence: number): Position => ({ incarnation: 1, sequence });

/** A feed and the stream of its host, joined directly; `sent` counts messages. */
function join(read: (after: Position, signal: AbortSignal) => AsyncIterable<DocMessage>) {
  const counts = { sent: 0, few: 0 };
  const feed: DocFeed = new DocFeed(
    {
      notify: (operation: string, value: unknown, parts?: readonly Uint8Array[]) => {
        if (operation === "readingFailed") return stream.fail(value as Parameters<DocStream["fail"]>[0]);
        counts.sent++;
        stream.take(value as Parameters<DocStream["take"]>[0], parts![0]!);
      },
    },
    read,
    () => counts.few++,
  );
  const stream = new DocStream({
    notify: (operation, value) => {
      if (operation === "read") feed.begin(value as Parameters<DocFeed["begin"]>[0]);
      else if (operation === "credit") feed.credit(value as Parameters<DocFeed["credit"]>[0]);
      else feed.end(value as Parameters<DocFeed["end"]>[0]);
    },
  });
  return { feed, stream, counts };
}

/** A log of `count` messages; at its end reading waits. */
async function* logOf(count: number, after: Position, signal: AbortSignal): AsyncIterable<DocMessage> {
  for (let sequence = after.sequence + 1; sequence <= count; sequence++)
    yield { position: at(sequence), data: Buffer.from(String(sequence)) };
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

test("a host reads on from a position, and a second reading ends the first", async () => {
  const { feed, stream } = join((after, signal) => logOf(5, after, signal));
  const got: number[] = [];
  for await (const { position } of stream.read(at(2), new AbortController().signal)) {
    got.push(position.sequence);
    if (position.sequence === 5) break;
  }
  for await (const { position } of stream.read(at(0), new AbortController().signal)) {
    got.push(position.sequence);
    if (position.sequence === 2) break;
  }
  assert.deepEqual(got, [3, 4, 5, 1, 2]);
  await feed.stop();
});

test("messages are sent ahead only as far as the host takes them", async () => {
  const { feed, stream, counts } = join((after, signal) => logOf(2_000, after, signal));
  const abort = new AbortController();
  let taken = 0;
  const ahead: number[] = [];
  for await (const { position } of stream.read(at(0), abort.signal)) {
    taken = position.sequence;
    if (taken % 500 === 0) await setImmediate();
    ahead.push(counts.sent - taken);
    if (taken === 2_000) break;
  }
  assert.equal(taken, 2_000);
  assert.ok(Math.max(...ahead) <= 256, `${Math.max(...ahead)} messages ahead`);
  await feed.stop();
});

test("the host is told of a message that it has only few documents before", async () => {
  const bytes = [10, 60_000, 60_000, 10];
  const { feed, stream, counts } = join(async function* messages() {
    for (const [nth, length] of bytes.entries()) yield { position: at(nth + 1), data: Buffer.alloc(length) };
  });
  const few: number[] = [];
  for await (const { position } of stream.read(at(0), new AbortController().signal)) {
    if (position.sequence === 1) await setImmediate(); // all are sent while the first is applied
    few.push(counts.few);
    if (position.sequence === bytes.length) break;
  }
  assert.deepEqual(few, [2, 2, 2, 2], "those up to the second: the third would be more than 64 KiB together");
  await feed.stop();
});

test("what reading the log throws is thrown to the host with its code", async () => {
  const { feed, stream } = join(async function* fail() {
    yield { position: at(1), data: Buffer.from("1") };
    throw new AppError("journal_gap", "messages were purged");
  });
  const reading = (async () => {
    for await (const { position } of stream.read(at(0), new AbortController().signal))
      assert.equal(position.sequence, 1);
  })();
  await assert.rejects(reading, { code: "journal_gap" });
  await feed.stop();
});
