import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Journal } from "#hub/journal/journal.ts";
import { PullSession } from "#hub/journal/reading/pull-session.ts";
import { StreamStore } from "#hub/journal/streams/stream-store.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { startNats } from "#test/harness/nats.ts";
import { TcpProxy } from "#test/harness/tcp-proxy.ts";
import { Connection } from "./connection.ts";
import { CoreMessaging } from "./core-messaging.ts";

const SLOW = 3 * MIB;
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

async function startSlow(t: TestContext, links = 1) {
  const server = await startNats();
  t.after(() => server.stop());
  const proxies = await Promise.all(range(links).map(() => TcpProxy.start(server.port)));
  t.after(() => Promise.all(proxies.map((proxy) => proxy.stop())));
  const target = { servers: proxies.map(({ port }) => `nats://127.0.0.1:${port}`), token: server.token };
  const slow = (): void => {
    for (const proxy of proxies) proxy.slow(SLOW);
  };
  return { target, slow, proxies };
}

async function startJournal(t: TestContext, links: number) {
  const { target, slow, proxies } = await startSlow(t, links);
  const metrics = new Metrics();
  const common = { dataDir: "", host: "", port: 0, name: "test", log: silentLogger(), maxBytes: 64 * MIB };
  const journal = new Journal({ ...common, metrics, external: target });
  await journal.start();
  t.after(() => journal.stop());
  return { journal, metrics, target, slow, proxies };
}

const publishMany = (journal: Journal, count: number): Promise<unknown> =>
  Promise.all(
    range(count).map((id) => journal.publish("raw.1.a", Buffer.alloc(MIB), { messageId: `${id}` })),
  );

test("one of several servers is kept while it answers, and is sent each message once", async (t) => {
  const { journal, metrics, slow } = await startJournal(t, 2);
  slow();
  const events: string[] = [];
  journal.onConnection((event) => events.push(event));
  await publishMany(journal, 5 * (SLOW / MIB));
  await journal.state(RAW_STREAM);
  assert.deepEqual(events, []);
  assert.doesNotMatch(await metrics.text(), /^tailrace_journal_publish_retries_total\{/m);
});

test("one of several servers that reads nothing is left, however much waits to be sent to it", async (t) => {
  const { journal, proxies } = await startJournal(t, 2);
  proxies.find(({ connections }) => connections > 0)!.silence("up", "down");
  await publishMany(journal, 24);
  assert.equal((await journal.state(RAW_STREAM)).messages, 24);
});

test("a message that arrives for longer than heartbeats may be missing is pulled once", async (t) => {
  const { journal, target, slow } = await startJournal(t, 1);
  await publishMany(journal, 3);
  const connection = new Connection({ name: "test", log: silentLogger(), target: () => target });
  await connection.start();
  t.after(() => connection.stop());
  const { signal } = new AbortController();
  const session = await PullSession.open({
    connection,
    stream: RAW_STREAM,
    consumer: { filter_subject: "raw.>" },
    maxBytes: 0,
    maxMessages: 3,
    expiresMs: 100,
    heartbeatMs: 20,
    tries: 0,
    signal,
  });
  t.after(() => session.close());
  slow();
  for (const sequence of [1, 2, 3]) {
    const got = await session.next();
    assert.equal(typeof got === "symbol" ? got.description : got.sequence, sequence);
  }
});

test("a copy of a message that arrives slowly is waited for", async (t) => {
  const { journal, target, slow } = await startJournal(t, 1);
  await publishMany(journal, 1);
  const connection = new Connection({ name: "test", log: silentLogger(), target: () => target });
  await connection.start();
  t.after(() => connection.stop());
  slow();
  const copy = await new StreamStore(connection).copy(RAW_STREAM, 1);
  assert.equal(copy?.data.length, MIB);
});

test("what waits for a slow server is bounded, and messages pass again afterwards", async (t) => {
  const { target, proxies } = await startSlow(t);
  const connection = new Connection({ name: "test", log: silentLogger(), target: () => target });
  await connection.start();
  t.after(() => connection.stop());
  let dropped = 0;
  const core = new CoreMessaging(connection, silentLogger(), () => dropped++);
  proxies[0]!.silence("up");
  for (let message = 0; message < 100; message++) {
    core.publish("much", Buffer.alloc(MIB));
    await turn(); // the client library gives the socket a turn's messages together
  }
  assert.ok(
    connection.unsentBytes > 32 * MIB && connection.unsentBytes <= 66 * MIB,
    `${connection.unsentBytes}`,
  );
  await assert.rejects(core.request("much", Buffer.alloc(1), { timeoutMs: 5_000 }), { code: "unavailable" });
  assert.ok(dropped > 10, `${dropped}`);
  const passed = Promise.withResolvers<void>();
  core.subscribe("later", () => passed.resolve());
  proxies[0]!.heal();
  while (connection.unsentBytes > 0) await connection.nats.flush();
  core.publish("later", Buffer.alloc(1));
  await passed.promise;
});
