import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { LogBatch, type tailrace } from "#proto/messages.ts";
import { type PublishRaw, RawChannel } from "./input-channel.ts";

const IDENTITY = {
  pipeline: "shop",
  plugin: "tcp_1",
  type: "tcp",
  hubName: "hub-1",
  sourceName: "hub-1",
  hostName: "host-1",
  version: "1",
};

function channelOver(publish: PublishRaw, signal = new AbortController().signal): RawChannel {
  return new RawChannel({
    identity: IDENTITY,
    source: { key: "a/b", path: "/x" },
    decorate: (event) => event.tag("from-tcp"),
    publish,
    clock: { ...systemClock, sleep: () => Promise.resolve() },
    log: silentLogger(),
    signal,
    sent: () => undefined,
  });
}

const line = (message: string): Event => new Event({ message }, 1000);

test("events become messages of the log with their source and position", async () => {
  const messages: { subject: string; batch: tailrace.LogBatch }[] = [];
  const channel = channelOver(async (subject, data) => {
    messages.push({ subject, batch: LogBatch.decode(data) });
  });
  await channel.send([
    { event: line("one"), offset: 10, length: 4 },
    { event: new Event({ message: "two", n: 1, "@metadata": { m: 2 } }, 2000), offset: 14, length: 4 },
  ]);
  const [{ subject, batch }] = messages as [(typeof messages)[number]];
  const { agentId, pipelineId, block } = batch;
  assert.match(subject, new RegExp(`^raw\\.\\d+\\.${agentId}$`));
  assert.deepEqual([pipelineId, block?.from, block?.to], ["shop", 10, 18]);
  assert.doesNotMatch(block?.source?.fileKey ?? "", /\//);
  assert.deepEqual(
    block?.events?.map(({ offset, message, fieldsJson, timeMs }) => [
      offset,
      Buffer.from(message!).toString(),
      JSON.parse(Buffer.from(fieldsJson!).toString()),
      timeMs,
    ]),
    [
      [10, "one", { tags: ["from-tcp"] }, 1000],
      [14, "two", { n: 1, tags: ["from-tcp"], "@metadata": { m: 2 } }, 2000],
    ],
  );
});

test("sends keep their order while the log is away, and resolve when they are durable", async () => {
  let failures = 2;
  const stored: string[] = [];
  const channel = channelOver(async (_, data) => {
    if (failures-- > 0) throw new AppError("journal_full", "full");
    stored.push(
      ...(LogBatch.decode(data).block?.events ?? []).map(({ message }) => Buffer.from(message!).toString()),
    );
  });
  await Promise.all(["a", "b", "c"].map((text) => channel.send([{ event: line(text) }])));
  assert.deepEqual(stored, ["a", "b", "c"]);
});

test("events of one payload stay in one message, others are cut at its size", async () => {
  const sizes: number[] = [];
  const channel = channelOver(async (_, data) => {
    sizes.push(LogBatch.decode(data).block?.events?.length ?? 0);
  });
  const big = "x".repeat(100_000);
  await channel.send([0, 1, 2, 3].map((offset) => ({ event: line(big), offset })));
  await channel.send([7, 7, 7, 7].map((offset) => ({ event: line(big), offset })));
  assert.deepEqual(sizes, [2, 2, 4]);
});

test("a send of what can't be written is refused, and leaves none of its events behind", async () => {
  const stored: [number, string][] = [];
  const channel = channelOver(async (_, data) => {
    for (const { offset, message } of LogBatch.decode(data).block?.events ?? [])
      stored.push([offset!, Buffer.from(message!).toString()]);
  });
  let deep: unknown = 1;
  for (let depth = 0; depth < 50_000; depth++) deep = [deep];
  const refused = channel.send([{ event: line("a") }, { event: new Event({ deep }, 1000) }]);
  await assert.rejects(refused, { code: "parsing" });
  await channel.send([{ event: line("b") }]);
  assert.deepEqual(stored, [[0, "b"]]);
});

test("a send with an event that is too long for the log is refused, and holds up none that comes after it", async () => {
  const stored: string[] = [];
  const most = { bytes: Number.POSITIVE_INFINITY };
  const signal = new AbortController().signal;
  const channel = channelOver(async (_, data) => {
    if (data.length > most.bytes) throw new AppError("request_too_large", "too large");
    for (const { message } of LogBatch.decode(data).block?.events ?? [])
      stored.push(Buffer.from(message!).toString());
  }, signal);
  const long = [{ event: line("a") }, { event: line("x".repeat(9_000_000)) }, { event: line("b") }];
  const after = [channel.send(long), channel.send([{ event: line("c") }])];
  await assert.rejects(after[0]!, { code: "parsing" });
  await after[1];
  assert.deepEqual(stored, ["c"]);
  // A log whose messages are shorter says so when it gets one.
  most.bytes = 500_000;
  const refused = channel.send([{ event: line("x".repeat(600_000)) }]);
  const later = channel.send([{ event: line("d") }]);
  await assert.rejects(refused, { code: "parsing" });
  await later;
  assert.deepEqual(stored, ["c", "d"]);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a channel whose sends are done leaves nothing behind at the signal of its input", async () => {
  const { signal } = new AbortController();
  const channel = channelOver(async () => undefined, signal);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  const sends = ["a", "b"].map((text) => channel.send([{ event: line(text) }]));
  assert.equal(getEventListeners(signal, "abort").length, 1);
  await Promise.all(sends);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a send that is pending at the stop fails", async () => {
  const stopping = new AbortController();
  const channel = channelOver(() => new Promise(() => undefined), stopping.signal);
  const pending = assert.rejects(channel.send([{ event: line("a") }]), { code: "cancelled" });
  stopping.abort();
  await pending;
});
