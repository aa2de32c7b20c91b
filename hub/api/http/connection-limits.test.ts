import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { silentLogger } from "#proto/kit/log.ts";
import { issueOwnCertificate } from "#test/harness/certificates.ts";
import { until } from "#test/harness/until.ts";
import { hubErrorBody } from "./error-body.ts";
import { Listener, type ListenerLimits } from "./listener.ts";

/** A listener that speaks HTTPS and ends with the test. */
async function listen(
  t: TestContext,
  limits: Partial<ListenerLimits>,
): Promise<{ readonly listener: Listener; readonly refused: () => number }> {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-tls-"));
  const files = issueOwnCertificate(folder, "hub", ["localhost", "127.0.0.1"]);
  let refused = 0;
  const listener = new Listener({
    host: "127.0.0.1",
    port: 0,
    portSetting: "http.port",
    tls: { cert: readFileSync(files.certificate), key: readFileSync(files.key) },
    origins: () => [],
    errorBody: hubErrorBody,
    onRefused: () => refused++,
    limits,
    log: silentLogger(),
  });
  listener.app.get("/signed-in", (request, reply) => {
    listener.connections.signedIn(request.raw.socket);
    return reply.send("ok");
  });
  await listener.start();
  t.after(async () => {
    await listener.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { listener, refused: () => refused };
}

function open(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  return socket;
}

test("a connection without a TLS handshake is closed by the timeout, and no descriptor is left open", async (t) => {
  const { listener } = await listen(t, { handshakeTimeoutMs: 100 });
  const idle = Array.from({ length: 20 }, () => open(listener.port));
  // A client that has ended its side, as a TCP health check does.
  for (const socket of idle.slice(0, 10)) socket.once("connect", () => socket.end());
  await Promise.all(idle.map((socket) => once(socket.resume(), "close")));
  await until("no connection is left", async () => (await connectionsOf(listener)) === 0, { everyMs: 10 });
  await until("none is counted", () => listener.connections.open === 0, { everyMs: 10 });
  assert.equal(listener.connections.anonymous, 0);
});

test("bytes that aren't TLS close the connection immediately", async (t) => {
  const { listener } = await listen(t, {});
  const socket = open(listener.port);
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(socket.resume(), "close");
  await until("no connection is left", async () => (await connectionsOf(listener)) === 0, { everyMs: 10 });
});

test("bare connections displace each other, never one that has signed in", async (t) => {
  const { listener, refused } = await listen(t, { anonymousPerAddress: 5 });
  const signedIn = connectTls({ port: listener.port, host: "127.0.0.1", rejectUnauthorized: false });
  signedIn.setEncoding("utf8");
  const ask = async (): Promise<string> => {
    signedIn.write("GET /signed-in HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const [answer] = (await once(signedIn, "data")) as [string];
    return answer;
  };
  assert.match(await ask(), /200 OK/);
  const bare = Array.from({ length: 12 }, () => open(listener.port));
  await Promise.all(bare.slice(0, 7).map((socket) => once(socket.resume(), "close")));
  assert.equal(refused(), 7);
  assert.equal(listener.connections.anonymous, 5);
  assert.match(await ask(), /200 OK/);
  for (const socket of [...bare, signedIn]) socket.destroy();
});

function connectionsOf({ app }: Listener): Promise<number> {
  return new Promise((done, fail) =>
    app.server.getConnections((error, count) => (error === null ? done(count) : fail(error))),
  );
}
