import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import type { checkServerIdentity, PeerCertificate } from "node:tls";
import { errors } from "@nats-io/transport-node";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { startGreeter } from "#test/support/journal/greeter.ts";
import { Connection, connectionOptions, explainRefusal } from "./connection.ts";

const servers = ["nats://hub:4222"];

for (const [what, credential, said] of [
  ["no credential", {}, /requires a credential .* and none is set: run tailrace-agent enroll/],
  ["a token", { token: "t" }, /refuses the agent's credential .*until then nothing is lost/],
  ["a key", { nkeySeedFile: "/etc/tailrace/agent.nkey" }, /refuses the agent's credential/],
] as const) {
  test(`a connection refused with ${what} is reported with the remedy`, () => {
    const refusal = new errors.AuthorizationError("Authorization Violation");
    assert.match(explainRefusal(refusal, { servers, ...credential }), said);
  });
}

test("any other failure of a connection is reported unchanged", () => {
  assert.equal(explainRefusal(new Error("connection refused"), { servers }), "connection refused");
});

for (const server of ["10.0.0.1:4222", "nats://10.0.0.1:4222", "tls://[fd00::1]:4222", "[fd00::1]:4222"])
  test(`a certificate for its address fits the server ${server}`, () => {
    const { tls } = connectionOptions({ servers: ["hub:4222", server], tlsCa: "ca.pem" }, "web-1");
    const check = (tls as { checkServerIdentity: typeof checkServerIdentity }).checkServerIdentity;
    const of = (address: string): PeerCertificate =>
      ({ subject: { CN: "hub" }, subjectaltname: `IP Address:${address}` }) as unknown as PeerCertificate;
    assert.equal(
      check("localhost", of(server.includes("fd00") ? "FD00:0:0:0:0:0:0:1" : "10.0.0.1")),
      undefined,
    );
    assert.match(String(check("localhost", of("10.0.0.2"))), /altnames/);
  });

test("servers that are away when the agent starts are tried after a loss, too", async (t) => {
  const greeter = await startGreeter(t);
  const away = (await freePorts(7)).map((port) => `nats://127.0.0.1:${port}`);
  const connection = new Connection(
    { servers: [...away, greeter] },
    "web-1",
    silentLogger(),
    new Metrics(),
    systemClock,
  );
  const isUp = Promise.withResolvers<void>();
  connection.onChange((up) => up && isUp.resolve());
  await connection.start();
  t.after(() => connection.stop());
  await isUp.promise;
  const known = connection.nats.getServers().map(({ listen }) => `nats://${listen}`);
  assert.deepEqual(known.sort(), [...away, greeter].sort());
});

for (const isBusy of [true, false])
  test(`a server that answers no ping is ${isBusy ? "kept while it answers batches" : "left within 3 s"}`, async (t) => {
    const clients: Socket[] = [];
    const onClient = (socket: Socket): boolean => clients.push(socket) > 0;
    const greeters = [await startGreeter(t, onClient, 1), await startGreeter(t, onClient, 1)];
    const connection = new Connection(
      { servers: greeters },
      "web-1",
      silentLogger(),
      new Metrics(),
      systemClock,
    );
    connection.subscribe("inbox", () => connection.answered());
    const isLeft = Promise.withResolvers<void>();
    const acks = setInterval(() => isBusy && clients[0]?.write("MSG inbox 1 2\r\nOK\r\n"), 200);
    t.after(() => clearInterval(acks));
    connection.onChange((up) => up || isLeft.resolve());
    await connection.start();
    t.after(() => connection.stop());
    await Promise.race([isLeft.promise, systemClock.sleep(4_500)]);
    assert.equal(clients.length === 1 && connection.connected, isBusy);
  });

test("a message that can't be handled doesn't end the reception of others", async (t) => {
  const clients: Socket[] = [];
  const greeter = await startGreeter(t, (socket) => clients.push(socket) > 0);
  const connection = new Connection(
    { servers: [greeter] },
    "web-1",
    silentLogger(),
    new Metrics(),
    systemClock,
  );
  const second = Promise.withResolvers<void>();
  let messages = 0;
  connection.subscribe("inbox", () => {
    if (++messages === 1) throw new Error("no space left on device");
    second.resolve();
  });
  const isUp = new Promise<void>((resolve) => connection.onChange((up) => up && resolve()));
  await connection.start();
  t.after(() => connection.stop());
  await isUp;
  for (let message = 0; message < 2; message++) clients[0]!.write("MSG inbox 1 2\r\nOK\r\n");
  await second.promise;
});
