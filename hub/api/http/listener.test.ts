import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "#proto/kit/log.ts";
import { Listener, type ListenerOptions } from "./listener.ts";

function listenerWith(options: Partial<ListenerOptions>): Listener {
  const listener = new Listener({
    host: "127.0.0.1",
    port: 0,
    portSetting: "http.port",
    origins: () => [],
    errorBody: ({ message }) => ({ message }),
    onRefused: () => undefined,
    log: createLogger({ name: "test", level: "silent", pretty: false }),
    ...options,
  });
  listener.app.get("/ip", (request) => ({ ip: request.ip }));
  return listener;
}

for (const [what, trustedProxies, remoteAddress, expected] of [
  ["without trusted proxies", [], "10.0.0.7", "10.0.0.7"],
  ["from a trusted proxy", ["10.0.0.0/8"], "10.0.0.7", "198.51.100.4"],
  ["from another address", ["10.0.0.0/8"], "192.0.2.9", "192.0.2.9"],
] as const) {
  test(`${what} the client address is ${expected}`, async () => {
    const { app } = listenerWith({ trustedProxies });
    const headers = { host: "localhost", "x-forwarded-for": "203.0.113.1, 198.51.100.4" };
    const answer = await app.inject({ url: "/ip", remoteAddress, headers });
    assert.deepEqual(answer.json(), { ip: expected });
  });
}

test("a trusted proxy that isn't an address or network is refused", () => {
  for (const proxy of ["proxy.example.net", "10.0.0.0/33", "10.0.0.0/8/1", ""]) {
    assert.throws(() => listenerWith({ trustedProxies: [proxy] }), {
      code: "settings_invalid",
      message: /network\.trusted_proxies/,
    });
  }
});

test("strict transport security is sent where it is wanted, with refusals too", async () => {
  const answerTo = async (strictTransport: boolean, host: string) =>
    (await listenerWith({ strictTransport }).app.inject({ url: "/ip", headers: { host } })).headers[
      "strict-transport-security"
    ];
  assert.equal(await answerTo(true, "localhost"), "max-age=31536000");
  assert.equal(await answerTo(true, "evil.example"), "max-age=31536000");
  assert.equal(await answerTo(false, "localhost"), undefined);
});
