import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { startGreeter } from "#test/support/journal/greeter.ts";
import { Connection } from "./connection.ts";
import { CoreMessaging } from "./core-messaging.ts";

test("servers that are away when a hub starts are tried after a loss, too", async (t) => {
  const greeter = await startGreeter(t);
  const servers = [...(await freePorts(7)).map((port) => `nats://127.0.0.1:${port}`), greeter];
  const connection = new Connection({ name: "hub-1", log: silentLogger(), target: () => ({ servers }) });
  await connection.start();
  t.after(() => connection.stop());
  const known = connection.nats.getServers().map(({ listen }) => `nats://${listen}`);
  assert.deepEqual(known.sort(), servers.toSorted());
});

test("a first attempt that is late at a start isn't a proof that nobody is there", async (t) => {
  let clients = 0;
  const reached = Promise.withResolvers<void>();
  const greeter = await startGreeter(t, () => {
    reached.resolve();
    return ++clients > 1;
  });
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => aheadMs, sleep: () => Promise.resolve() };
  const connection = new Connection({
    name: "hub-1",
    log: silentLogger(),
    target: () => ({ servers: [greeter] }),
    clock,
  });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const started = connection.start();
  await reached.promise;
  aheadMs = 30_000;
  t.mock.timers.tick(30_000);
  await started;
  t.mock.timers.reset();
  t.after(() => connection.stop());
  assert.equal(clients, 2);
});

test("after the server refused the inbox of requests, the next request makes another", async () => {
  const inboxes: { readonly take: (error: Error | null, answer: unknown) => void; isClosed: boolean }[] = [];
  const nats = {
    subscribe: (_: string, { callback }: { callback: (typeof inboxes)[number]["take"] }) => {
      const inbox = { take: callback, isClosed: false };
      inboxes.push(inbox);
      return { closed: new Promise(() => undefined), isClosed: () => inbox.isClosed };
    },
    publish: (_: string, data: Uint8Array, { reply }: { reply: string }) =>
      queueMicrotask(() => {
        const inbox = inboxes.at(-1)!;
        inbox.isClosed ||= inboxes.length === 1;
        inbox.take(inbox.isClosed ? new Error("refused") : null, { subject: reply, data });
      }),
  };
  const core = new CoreMessaging(
    { nats, unsentBytes: 0, answered: () => undefined } as unknown as Connection,
    silentLogger(),
  );
  const request = (): Promise<Uint8Array> => core.request("echo", Uint8Array.of(1), { timeoutMs: 60_000 });
  await assert.rejects(request(), { code: "unavailable", message: /refused/ });
  assert.deepEqual(await request(), Uint8Array.of(1));
});

test("a stop at the moment at which the server ends the connection is no fault", async (t) => {
  const clients: Socket[] = [];
  const greeter = await startGreeter(t, (socket) => clients.push(socket) > 0);
  const target = { servers: [greeter] };
  const connection = new Connection({ name: "hub-1", log: silentLogger(), target: () => target });
  await connection.start();
  const { nats } = connection;
  const { protocol } = nats as unknown as { protocol: { transport: { socket: Socket } } };
  const [client] = clients;
  client!.pause();
  for (let message = 0; message < 16; message++) nats.publish("much", Buffer.alloc(1_000_000));
  const ended = once(protocol.transport.socket, "end");
  client!.end();
  await ended;
  await setImmediate();
  nats.flush().catch(() => undefined); // the socket refuses it, and says so later
  await connection.stop();
  await setImmediate();
});

test("a link at the limit of what may wait is logged once, and again after it has recovered", () => {
  const connection = { connected: true, unsentBytes: 0, nats: { publish: () => undefined } };
  let logged = 0;
  const log = { ...silentLogger(), warn: () => void logged++ };
  const core = new CoreMessaging(connection as unknown as Connection, log);
  const sendAt = (mib: number): void => {
    connection.unsentBytes = mib * MIB;
    core.publish("much", Uint8Array.of(1));
  };
  for (let round = 0; round < 5; round++) [64, 63].forEach(sendAt);
  assert.equal(logged, 1);
  [20, 64].forEach(sendAt);
  assert.equal(logged, 2);
});
