/** Floods of connections without and with a sign-in: the hub sheds them, gives the descriptors back and serves others. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { after, before, suite, test } from "node:test";
import { WebSocket } from "ws";
import { CLOSE, DEFAULT_LIMITS, LIVE_PATH, LIVE_PROTOCOL } from "#proto/live.ts";
import { until } from "#test/harness/until.ts";
import { SecuredHub } from "./secured-hub.ts";

const HOST = "127.0.0.1";
/** More than one address may hold. */
const BARE_CONNECTIONS = 1_500;
const CHECKS = 500;
const LIVE_SOCKETS = 60;
const SERVED_WITHIN_MS = 2_000;
/** Descriptors that come and go by themselves: files of segments, connections to the log. */
const SPARE_DESCRIPTORS = 40;

suite("floods of connections", () => {
  let target: SecuredHub;
  before(async () => {
    target = await SecuredHub.start();
  });
  after(() => target.close());

  const descriptors = (): number => readdirSync(`/proc/${target.hub.pid}/fd`).length;

  async function isServed(): Promise<void> {
    const started = performance.now();
    assert.equal((await target.request("/", { role: "viewer" })).status, 200);
    assert.ok(performance.now() - started < SERVED_WITHIN_MS, `served within ${SERVED_WITHIN_MS} ms`);
  }

  /** Resolves when the hub has about as many descriptors as before. */
  function givenBack(before: number): Promise<unknown> {
    return until(`no more than ${before + SPARE_DESCRIPTORS} descriptors`, () =>
      Promise.resolve(descriptors() <= before + SPARE_DESCRIPTORS),
    );
  }

  async function bare(url: string): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), HOST);
    socket.on("error", () => undefined);
    socket.resume();
    await Promise.race([once(socket, "connect"), once(socket, "close")]);
    return socket;
  }

  for (const listener of ["search interface", "dashboard"] as const) {
    const url = (): string => (listener === "dashboard" ? target.hub.dashboardUrl : target.hub.searchUrl);

    test(`${BARE_CONNECTIONS} connections to the ${listener} that never shake hands are bounded`, async () => {
      const before = descriptors();
      const sockets: Socket[] = [];
      try {
        while (sockets.length < BARE_CONNECTIONS) {
          const opened = await Promise.all(Array.from({ length: 100 }, () => bare(url())));
          sockets.push(...opened);
        }
        await isServed();
        assert.ok(descriptors() - before <= 1_024 + SPARE_DESCRIPTORS, "the oldest were closed");
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      await givenBack(before);
    });

    test(`${CHECKS} health checks over TCP leave no descriptor at the ${listener}`, async () => {
      const before = descriptors();
      for (let at = 0; at < CHECKS; at += 50) {
        await Promise.all(
          Array.from({ length: 50 }, async () => {
            const socket = await bare(url());
            socket.end();
            await (socket.closed || once(socket, "close"));
          }),
        );
      }
      await givenBack(before);
      await isServed();
    });
  }

  test(`${LIVE_SOCKETS} live sockets of one viewer: all beyond its limit are closed with the reason`, async () => {
    const before = descriptors();
    const sockets: WebSocket[] = [];
    const codes: number[] = [];
    try {
      const url = `${target.hub.dashboardUrl.replace(/^http/, "ws")}${LIVE_PATH}`;
      for (let at = 0; at < LIVE_SOCKETS; at++) {
        const socket = new WebSocket(url, LIVE_PROTOCOL, { headers: { authorization: target.keys.viewer } });
        socket.on("error", () => undefined);
        socket.on("close", (code) => codes.push(code));
        sockets.push(socket);
        await once(socket, "open");
      }
      const beyond = LIVE_SOCKETS - DEFAULT_LIMITS.socketsPerViewer;
      await until("the sockets beyond the limit closed", () => Promise.resolve(codes.length === beyond));
      assert.deepEqual(new Set(codes), new Set([CLOSE.tooMany]));
      await isServed();
      const [first] = sockets;
      first!.send("x".repeat(DEFAULT_LIMITS.inboundSizeBytes + 1));
      await until("the socket with the large message closed", () => Promise.resolve(codes.length > beyond));
      assert.equal(codes.at(-1), CLOSE.tooBig);
      const second = sockets[1]!;
      for (let at = 0; at < 10 * DEFAULT_LIMITS.inboundRate; at++) second.send('{"type":"ping"}');
      await until("the flooding socket closed", () => Promise.resolve(codes.length > beyond + 1));
      assert.ok([CLOSE.tooFast, CLOSE.badMessage].includes(codes.at(-1) as 4429), String(codes.at(-1)));
      await isServed();
    } finally {
      for (const socket of sockets) socket.terminate();
    }
    await givenBack(before);
  });

  test("upgrades without a sign-in, or from a foreign page, are refused and leave nothing open", async () => {
    const before = descriptors();
    const url = `${target.hub.dashboardUrl.replace(/^http/, "ws")}${LIVE_PATH}`;
    const refused = async (headers: Record<string, string>): Promise<number | undefined> => {
      const socket = new WebSocket(url, LIVE_PROTOCOL, { headers });
      const [, response] = (await once(socket, "unexpected-response")) as [unknown, { statusCode?: number }];
      socket.on("error", () => undefined);
      socket.terminate();
      return response.statusCode;
    };
    for (let at = 0; at < 50; at++) {
      assert.equal(await refused({}), 401);
      assert.equal(await refused({ authorization: target.keys.viewer, origin: "https://evil.example" }), 403);
    }
    await givenBack(before);
    await isServed();
  });
});
