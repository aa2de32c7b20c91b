import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "#hub/journal/connection/connection.ts";
import { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import { Incarnations } from "#hub/journal/streams/log-history.ts";
import { StreamStore } from "#hub/journal/streams/stream-store.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { START } from "#proto/position.ts";
import { type ScriptedRequest, startScriptedNats } from "#test/support/journal/scripted-nats.ts";
import { Reader, type ReaderSource } from "./reader.ts";

/** Messages that can be read without a consumer. */
const STORED = 2;

/** Answers a request for a stored message as a server does that stores the stream. */
function answerCopy({ data, answer }: ScriptedRequest): void {
  const { seq } = JSON.parse(data) as { seq: number };
  if (seq > STORED) {
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

test("while no consumer can be made a reader gets messages from any server, and each once", async (t) => {
  const read: number[] = [];
  const bothRead = Promise.withResolvers<void>();
  const address = await startScriptedNats(t, (request) => {
    const { subject, data, answer } = request;
    if (subject === "$JS.API.DIRECT.GET.RAW") return answerCopy(request);
    if (subject.startsWith("$JS.API.CONSUMER.CREATE.RAW.")) {
      const { name } = (JSON.parse(data) as { config: { name: string } }).config;
      void bothRead.promise.then(() => answer(JSON.stringify({ name, num_pending: 3 })));
    }
    if (!subject.startsWith("$JS.API.CONSUMER.MSG.NEXT.RAW.")) return;
    for (const seq of [1, 2, 3])
      answer(`line ${seq}`, { reply: `$JS.ACK.RAW.consumer.1.${seq}.${seq}.1767225600000000000.0` });
  });
  const connection = new Connection({
    target: () => ({ servers: [address] }),
    name: "test",
    log: silentLogger(),
  });
  await connection.start();
  t.after(() => connection.stop());
  const streams = new StreamStore(connection);
  const source: ReaderSource = {
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
