import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Connection } from "#hub/journal/connection/connection.ts";
import { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import { Incarnations } from "#hub/journal/streams/log-history.ts";
import { StreamStore } from "#hub/journal/streams/stream-store.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { type Logger, silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { START } from "#proto/position.ts";
import { type ScriptedRequest, startScriptedNats } from "#test/support/journal/scripted-nats.ts";
import type { PublishedTail } from "./published-tail.ts";
import { Reader, type ReaderSource } from "./reader.ts";

/** Messages that can be read without a consumer. */
const STORED = 2;

/** The first wait after a failure is not longer; see Reader. */
const FIRST_RETRY_MS = 20;

/** Answers a request for a stored message as a server does that stores the stream. */
function answerCopy({ data, answer }: ScriptedRequest, stored = STORED): void {
  const { seq } = JSON.parse(data) as { seq: number };
  if (seq > stored) {
    answer("", { status: "404 Message Not Found" });
    return;
  }
  const headers = {
    "Nats-Stream": "RAW",
    "Nats-Subject": "raw.1.a",
    "Nats-Sequence": String(seq),
    "Nats-Time-Stamp": "2026-01-01T00:00:00Z",
    "Nats-Msg-Id": `id-${seq}`,
  };
  answer(`line ${seq}`, { headers });
}

/** Returns what a reader needs from the log that a scripted server stores. */
async function sourceOf(t: TestContext, address: string): Promise<ReaderSource> {
  const connection = new Connection({
    target: () => ({ servers: [address] }),
    name: "test",
    log: silentLogger(),
  });
  await connection.start();
  t.after(() => connection.stop());
  const streams = new StreamStore(connection);
  return {
    connection,
    clock: systemClock,
    log: silentLogger(),
    metrics: new JournalMetrics(new Metrics()),
    idleMs: 2_000,
    begun: () => undefined,
    ended: () => undefined,
    tail: () => assert.fail(),
    ready: () => Promise.resolve(),
    incarnations: () => new Incarnations(),
    bounds: () => Promise.resolve({ firstSequence: 1, lastSequence: 3 }),
    recentBounds: () => undefined,
    copy: (stream, sequence) => streams.copy(stream, sequence),
    hasMessage: () => Promise.resolve(true),
    lastMatching: () => Promise.resolve(3),
  };
}

function nameIn(data: string): string {
  return (JSON.parse(data) as { config: { name: string } }).config.name;
}

test("while no consumer can be made a reader gets messages from any server, and each once", async (t) => {
  const read: number[] = [];
  const bothRead = Promise.withResolvers<void>();
  const address = await startScriptedNats(t, (request) => {
    const { subject, data, answer } = request;
    if (subject === "$JS.API.DIRECT.GET.RAW") return answerCopy(request);
    if (subject.startsWith("$JS.API.CONSUMER.CREATE.RAW.")) {
      void bothRead.promise.then(() => answer(JSON.stringify({ name: nameIn(data), num_pending: 3 })));
    }
    if (!subject.startsWith("$JS.API.CONSUMER.MSG.NEXT.RAW.")) return;
    for (const seq of [1, 2, 3])
      answer(`line ${seq}`, { reply: `$JS.ACK.RAW.consumer.1.${seq}.${seq}.1767225600000000000.0` });
  });
  const source = await sourceOf(t, address);
  const stop = new AbortController();
  const messages: string[] = [];
  for await (const message of new Reader("RAW", source, { after: START, signal: stop.signal })) {
    read.push(message.position.sequence);
    messages.push(`${message.subject} ${Buffer.from(message.data).toString()} ${message.messageId}`.trim());
    if (read.length === STORED) bothRead.resolve();
    if (message.position.sequence === 3) stop.abort();
  }
  assert.deepEqual(read, [1, 2, 3]);
  assert.deepEqual(messages.slice(0, STORED), ["raw.1.a line 1 id-1", "raw.1.a line 2 id-2"]);
});

test("what is read without a consumer doesn't shorten the waits for one", async (t) => {
  let restarts = 0;
  const address = await startScriptedNats(t, (request) => {
    if (request.subject === "$JS.API.DIRECT.GET.RAW") answerCopy(request, 1 + restarts);
  });
  const stop = new AbortController();
  const waits: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      if (waits.length < restarts) waits.push(ms);
      if (waits.length === 2) stop.abort();
      return systemClock.sleep(ms, signal);
    },
  };
  const log = { ...silentLogger(), warn: () => void restarts++ } as unknown as Logger;
  const source = { ...(await sourceOf(t, address)), clock, log };
  const read: number[] = [];
  for await (const { position } of new Reader("RAW", source, { after: START, signal: stop.signal }))
    read.push(position.sequence);
  assert.deepEqual(read, [1, 2]);
  assert.ok(waits[1]! > FIRST_RETRY_MS, waits.join(" "));
});

test("a reader that ends while a further consumer is made removes it", async (t) => {
  const made: string[] = [];
  const removed: string[] = [];
  const further = Promise.withResolvers<void>();
  const address = await startScriptedNats(t, (request) => {
    const { subject, data, answer } = request;
    if (subject === "$JS.API.DIRECT.GET.RAW") return answerCopy(request);
    if (subject.startsWith("$JS.API.CONSUMER.CREATE.RAW.")) {
      const name = nameIn(data);
      const isFirst = made.push(name) === 1;
      void (isFirst ? Promise.resolve() : further.promise).then(() =>
        answer(JSON.stringify({ name, num_pending: 3 })),
      );
    }
    if (!subject.startsWith("$JS.API.CONSUMER.DELETE.RAW.")) return;
    removed.push(subject.slice(subject.lastIndexOf(".") + 1));
    answer(JSON.stringify({ success: true }));
  });
  const tail = { cuts: 0, canServe: () => made.length === 1, passed: () => undefined, follow: () => [] };
  const source = { ...(await sourceOf(t, address)), tail: () => tail as unknown as PublishedTail };
  const { signal } = new AbortController();
  for await (const { position } of new Reader("RAW", source, { after: START, signal, ownFromMemory: true })) {
    assert.equal(position.sequence, 1);
    further.resolve();
    break;
  }
  assert.equal(removed[0], made[0]);
  assert.ok(made.slice(1).includes(removed[1]!));
});
