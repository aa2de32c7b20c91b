import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { after, before, suite, test } from "node:test";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { World } from "#test/conformance/oauth/auth-server.ts";
import { Access } from "./access.ts";

const READER = { name: "roz", password: "another long password" };

suite("a viewer of live lines", () => {
  let world: World;
  let access: Access;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    await world.auth.accounts.add({ ...READER, role: "viewer" }, "ada");
    access = new Access(world.auth, true);
  });
  after(() => world.stop());

  const upgrade = (authorization: string) =>
    access.viewer({
      headers: { authorization },
      socket: { remoteAddress: "127.0.0.1" },
    } as unknown as IncomingMessage);
  test("behind a proxy is limited by its own address, so that one who guesses keeps no other out", async (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: Date.now() }); // the waits must not pass
    const proxied = new Access(world.auth, true, new TrustedProxies(["10.9.9.9"]));
    const open = (client: string, password: string) =>
      proxied.viewer({
        headers: {
          authorization: `Basic ${Buffer.from(`${READER.name}:${password}`).toString("base64")}`,
          "x-forwarded-for": client,
        },
        socket: { remoteAddress: "10.9.9.9" },
      } as unknown as IncomingMessage);
    for (let guess = 0; guess < 6; guess++)
      await assert.rejects(open("192.0.2.1", `guess ${guess}`), { name: "AppError" });
    await assert.rejects(open("192.0.2.1", READER.password), { code: "overloaded" });
    assert.equal((await open("192.0.2.2", READER.password)).byCookie, false);
  });

  const byPassword = `Basic ${Buffer.from(`${READER.name}:${READER.password}`).toString("base64")}`;

  test("reads by the rights of now, and is notified as they change", async () => {
    const { accounts } = world.auth;
    await accounts.setRole(READER.name, "viewer", ["open-*", "closed-*"], "ada");
    const viewer = await upgrade(byPassword);
    assert.deepEqual([viewer.mayRead("open-1"), viewer.mayRead("closed-1")], [true, true]);
    const changed = Promise.withResolvers<void>();
    const stop = access.onRightsChange(changed.resolve);
    await accounts.setRole(READER.name, "viewer", ["open-*"], "ada");
    await changed.promise;
    stop();
    assert.equal(await viewer.isStillSignedIn(), true);
    assert.deepEqual([viewer.mayRead("open-1"), viewer.mayRead("closed-1")], [true, false]);
    await accounts.setRole(READER.name, "ingest", ["open-*"], "ada");
    assert.equal(await viewer.isStillSignedIn(), false);
  });

  test("by a key ends with the key", async () => {
    const { key, view } = await world.auth.apiKeys.issue({ name: "tail", role: "viewer" }, "ada");
    const viewer = await upgrade(`Bearer ${key}`);
    assert.equal(await viewer.isStillSignedIn(), true);
    const changed = Promise.withResolvers<void>();
    const stop = access.onRightsChange(changed.resolve);
    await world.auth.apiKeys.revoke(view.id, "ada");
    await changed.promise;
    stop();
    assert.equal(await viewer.isStillSignedIn(), false);
  });
});
