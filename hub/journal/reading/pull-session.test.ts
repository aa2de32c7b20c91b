import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Connection } from "#hub/journal/connection/connection.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { type ScriptedRequest, startScriptedNats } from "#test/support/journal/scripted-nats.ts";
import { IDLE, PullSession, SessionEnded } from "./pull-session.ts";

const CREATE = "$JS.API.CONSUMER.CREATE.RAW.";
const NEXT = "$JS.API.CONSUMER.MSG.NEXT.RAW.";
/** Longer than any test: only a lost consumer ends a pull. */
const EXPIRES_MS = 600_000;
const HEARTBEAT_MS = 50;

/** Opens sessions on a server that answers as `onRequest` does. */
async function connect(t: TestContext, onRequest: (request: ScriptedRequest) => void) {
  const address = await startScriptedNats(t, onRequest);
  const connection = new Connection({
    target: () => ({ servers: [address] }),
    name: "test",
    log: silentLogger(),
  });
  await connection.start();
  t.after(() => connection.stop());
  const open = (tries = 0): Promise<PullSession> =>
    PullSession.open({
      connection,
      stream: "RAW",
      consumer: {},
      maxBytes: 0,
      maxMessages: 10,
      expiresMs: EXPIRES_MS,
      heartbeatMs: HEARTBEAT_MS,
      tries,
      signal: t.signal,
    });
  return { connection, open };
}

/** Returns the consumer's name that a request to create it has. */
function nameIn({ data }: ScriptedRequest): string {
  return (JSON.parse(data) as { config: { name: string } }).config.name;
}

function answerCreate(request: ScriptedRequest): void {
  request.answer(JSON.stringify({ name: nameIn(request), num_pending: 3 }));
}

test("a consumer that isn't made, as a dead server was chosen for it, doesn't hold up another one", async (t) => {
  const asked: string[] = [];
  const pulled = Promise.withResolvers<string>();
  const { connection, open } = await connect(t, (request) => {
    if (request.subject.startsWith(CREATE) && asked.push(nameIn(request)) > 1) answerCreate(request);
    if (request.subject.startsWith(NEXT)) pulled.resolve(request.subject.slice(NEXT.length));
  });
  assert.equal(connection.clustered, true);
  const session = await open();
  assert.equal(session.pending, 3);
  const ended = assert.rejects(session.next(), SessionEnded);
  assert.equal(asked.length, 2);
  assert.equal(await pulled.promise, asked[1]);
  await session.close();
  await ended;
});

test("a consumer is lost when its heartbeats are missing, long before a pull ends", async (t) => {
  const { open } = await connect(t, (request) => {
    if (request.subject.startsWith(CREATE)) answerCreate(request);
  });
  const session = await open();
  await assert.rejects(session.next(), /the server didn't answer a pull/);
});

test("heartbeats keep a session, however long nothing is delivered", async (t) => {
  const { open } = await connect(t, (request) => {
    if (request.subject.startsWith(CREATE)) answerCreate(request);
    if (!request.subject.startsWith(NEXT)) return;
    let beats = 0;
    const beating = setInterval(() => {
      if (beats++ < 10) return request.answer("", { status: "100 Idle Heartbeat" });
      clearInterval(beating);
      const reply = "$JS.ACK.RAW.consumer.1.7.1.1700000000000000000.0";
      request.answer("line", { reply });
    }, HEARTBEAT_MS);
    t.after(() => clearInterval(beating));
  });
  const session = await open();
  const delivery = await session.next();
  assert.ok(delivery !== IDLE);
  assert.deepEqual([delivery.sequence, Buffer.from(delivery.data).toString()], [7, "line"]);
});

test("a session that began after failures waits no longer than others where the server is quick", async (t) => {
  let pulls = 0;
  const { open } = await connect(t, (request) => {
    if (request.subject.startsWith(CREATE)) answerCreate(request);
    if (request.subject.startsWith(NEXT) && pulls++ === 1)
      request.answer("", { status: "100 Idle Heartbeat" });
  });
  const [other, quick] = [await open(2), await open(2)];
  const ended: string[] = [];
  const end = (session: PullSession, name: string): Promise<unknown> =>
    session.next().catch(() => ended.push(name));
  await Promise.all([end(other, "other"), end(quick, "quick")]);
  assert.deepEqual(ended, ["quick", "other"]);
});

test("a session that has failed is closed without an answer of the lost server", async (t) => {
  const requests: string[] = [];
  const { open } = await connect(t, (request) => {
    requests.push(request.subject);
    if (request.subject.startsWith(CREATE)) answerCreate(request);
  });
  const session = await open();
  await assert.rejects(session.next(), SessionEnded);
  await session.close();
  assert.deepEqual(
    requests.filter((subject) => subject.includes("DELETE")),
    [],
  );
});
