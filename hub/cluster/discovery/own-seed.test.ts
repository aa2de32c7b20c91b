import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { randomCredentials } from "./cluster-credentials.ts";
import { checkOwnSeed } from "./own-seed.ts";
import { TransportListener } from "./transport-listener.ts";

const certificate = randomCredentials("0123456789abcdef0123456789abcdef").issue(["127.0.0.1"]);
const HOST = "127.0.0.1";

/** Starts hubs that answer at these ports; the first one is the hub that checks. */
async function hubsAt(t: TestContext, ports: readonly number[]): Promise<void> {
  for (const [at, port] of ports.entries()) {
    const own = () => ({
      version: 1 as const,
      process: `process-${at}`,
      node: `hub-${at}`,
      cluster: "tailrace",
      id: "",
      release: "1.0.0",
      routePort: 6222,
      size: 3,
      store: "empty" as const,
      led: false,
    });
    const listener = new TransportListener({ host: HOST, port, certificate, log: silentLogger(), own });
    await listener.start();
    t.after(() => listener.stop());
  }
}

test("a list with this hub once is accepted, also where another hub is away", async (t) => {
  const [own, other, away] = (await freePorts(3)) as [number, number, number];
  await hubsAt(t, [own, other]);
  const seeds = [own, other, away].map((port) => ({ host: HOST, port }));
  await checkOwnSeed({ seeds, own: { host: HOST, port: own }, certificate });
});

test("a list of other hubs only is refused once all of them answer", async (t) => {
  const [own, one, two] = (await freePorts(3)) as [number, number, number];
  await hubsAt(t, [own, one]);
  const seeds = [one, two].map((port) => ({ host: HOST, port }));
  const check = () => checkOwnSeed({ seeds, own: { host: "0.0.0.0", port: own }, certificate });
  await check(); // who is away may be this hub, by an address that doesn't work yet
  const only = [{ host: HOST, port: one }];
  await assert.rejects(checkOwnSeed({ seeds: only, own: { host: "0.0.0.0", port: own }, certificate }), {
    code: "settings_invalid",
    message: /names other hubs, but not this one: add the address/,
  });
});

test("two entries that are this hub are refused", async (t) => {
  const [own, other] = (await freePorts(2)) as [number, number];
  await hubsAt(t, [own, other]);
  const seeds = [
    { host: HOST, port: own },
    { host: HOST, port: other },
    { host: "localhost", port: own },
  ];
  await assert.rejects(checkOwnSeed({ seeds, own: { host: HOST, port: own }, certificate }), {
    code: "settings_invalid",
    message: /127\.0\.0\.1:\d+ and localhost:\d+ are both this hub/,
  });
});
