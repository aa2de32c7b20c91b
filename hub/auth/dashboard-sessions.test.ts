import assert from "node:assert/strict";
import { after, afterEach, before, mock, suite, test } from "node:test";
import { HOUR_MS } from "#proto/kit/units.ts";
import { PERSON, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser } from "#test/conformance/oauth/browser.ts";
import { me, signIn } from "#test/conformance/oauth/dashboard-browser.ts";

suite("sessions of the dashboard", () => {
  let world: World;
  before(async () => {
    world = await World.start();
    await world.addPerson();
  });
  after(() => world.stop());
  afterEach(() => mock.timers.reset());

  test("unsafe methods with the cookie need our own Origin", async () => {
    const { browser } = await signIn(world);
    const cookie = `tailrace_session=${browser.cookie("tailrace_session")}`;
    const post = async (origin: Record<string, string>): Promise<number> => {
      const headers = { "content-type": "application/json", cookie, ...origin };
      const answer = await fetch(`${world.origin}/sample/save`, { method: "POST", body: "{}", headers });
      await answer.body?.cancel();
      return answer.status;
    };
    assert.equal(await post({ origin: "https://evil.example" }), 403);
    assert.equal(await post({}), 403);
    assert.equal(await post({ origin: `${world.origin}.evil.example` }), 403);
    assert.equal(await post({ origin: world.origin }), 200);
  });

  test("logging out ends the session immediately, notifies listeners, and requires the password again", async () => {
    const { browser } = await signIn(world);
    const ended = Promise.withResolvers<void>();
    const stop = world.auth.follower.onRightsChange(ended.resolve);
    const cookie = `tailrace_session=${browser.cookie("tailrace_session")}`;
    const principal = await world.auth.authenticator.authenticate({
      method: "GET",
      headers: { cookie },
      ip: "127.0.0.1",
    });
    assert.equal(await world.auth.authenticator.stillValid(principal), true);
    const answer = await browser.post(`${world.origin}/api/auth/logout`, {}, { origin: world.origin });
    assert.equal(answer.status, 204);
    await ended.promise;
    stop();
    assert.equal(await world.auth.authenticator.stillValid(principal), false);
    const replayed = new Browser();
    replayed.setCookie("tailrace_session", cookie.split("=")[1] ?? "");
    assert.equal((await me(world, replayed)).status, 401);
    const page = await browser.follow(await browser.get(`${world.origin}/api/auth/login`), world.origin);
    assert.match(page.text, /type="password"/);
  });

  test("sessions are listed and ended one by one, one's own only", async () => {
    const [first, second] = [await signIn(world), await signIn(world)];
    const list = JSON.parse((await first.browser.get(`${world.origin}/api/auth/sessions`)).text).sessions as {
      key: string;
      current: boolean;
    }[];
    assert.ok(list.length >= 2);
    const mine = list.filter(({ current }) => current);
    assert.equal(mine.length, 1);
    const url = `${world.origin}/api/auth/sessions/${mine[0]?.key}`;
    const headers = {
      origin: world.origin,
      cookie: `tailrace_session=${second.browser.cookie("tailrace_session")}`,
    };
    assert.equal((await fetch(url, { method: "DELETE", headers })).status, 204);
    assert.equal((await me(world, first.browser)).status, 401);
    assert.equal((await me(world, second.browser)).status, 200);
    assert.equal((await fetch(url, { method: "DELETE", headers })).status, 404);
  });

  test("a session ends 12 h after its last use and 7 d after sign-in", async () => {
    const { browser } = await signIn(world);
    const start = Date.now();
    mock.timers.enable({ apis: ["Date"], now: start });
    for (let hours = 10; hours < 7 * 24; hours += 10) {
      mock.timers.setTime(start + hours * HOUR_MS);
      assert.equal((await me(world, browser)).status, 200, `${hours} h`);
    }
    mock.timers.setTime(start + 7 * 24 * HOUR_MS + 1_000);
    assert.equal((await me(world, browser)).status, 401);
    mock.timers.reset();
    const idle = await signIn(world);
    mock.timers.enable({ apis: ["Date"], now: Date.now() + 12 * HOUR_MS + 1_000 });
    assert.equal((await me(world, idle.browser)).status, 401);
  });

  test("a new password or role ends the account's sessions", async () => {
    await world.auth.accounts.add({ name: "eve", password: "first password", role: "viewer" }, "test");
    const { id, account } = (await world.auth.accounts.find("eve"))!;
    for (const change of [
      () => world.auth.accounts.setPassword("eve", "second password", "test"),
      () => world.auth.accounts.setRole("eve", "editor", ["*"], "test"),
    ]) {
      const epoch = (await world.auth.accounts.get(id))?.epoch ?? account.epoch;
      const secret = await world.auth.sessions.open(id, epoch, { ip: "127.0.0.1", userAgent: "test" });
      assert.notEqual(await world.auth.sessions.find(secret), null);
      await change();
      assert.equal(await world.auth.sessions.find(secret), null);
    }
  });

  test("a change of an account is made as a whole or not at all", async () => {
    const { browser } = await signIn(world);
    const change = (body: object): Promise<Response> =>
      fetch(`${world.origin}/api/auth/accounts/${PERSON.name}`, {
        method: "PATCH",
        headers: {
          "content-type": "application/json",
          origin: world.origin,
          cookie: `tailrace_session=${browser.cookie("tailrace_session")}`,
        },
        body: JSON.stringify(body),
      });
    const before = await world.auth.accounts.find(PERSON.name);
    const refused = await change({ password: "another long password", role: "viewer" });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /only administrator/);
    assert.equal((await change({ password: "short", indices: ["*"] })).status, 400);
    assert.deepEqual(await world.auth.accounts.find(PERSON.name), before);
    assert.equal((await me(world, browser)).status, 200);
  });

  test("one's consents are listed with the names of the applications, without those that were removed", async () => {
    const { browser } = await signIn(world);
    const [kept, removed] = [await world.addClient(), await world.addClient()];
    const { id } = (await world.auth.accounts.find(PERSON.name))!;
    const scopes = [world.scope("logs.read")];
    for (const { clientId } of [kept, removed]) await world.auth.provider.consents.add(id, clientId, scopes);
    await world.auth.provider.clients.remove(removed.clientId, "test");
    const answer = JSON.parse((await browser.get(`${world.origin}/api/auth/consents`)).text) as {
      consents: { clientId: string; name: string; scopes: string[] }[];
    };
    assert.deepEqual(
      answer.consents.map(({ clientId, name, scopes: allowed }) => [clientId, name, allowed]),
      [[kept.clientId, "Reporter", scopes]],
    );
    await world.auth.provider.consents.forget(id);
  });

  test("a viewer may search but not change", async () => {
    const key = await world.auth.apiKeys.issue({ name: "reader", role: "viewer" }, "test");
    const headers = { authorization: `Bearer ${key.key}` };
    assert.equal((await world.api("/sample/search", headers)).status, 200);
    assert.equal((await world.api("/sample/save", headers)).status, 403);
    assert.equal((await world.api("/api/auth/accounts", headers)).status, 403);
  });

  test("a WebSocket opens with our Origin or a ticket that is good once", async () => {
    const { browser } = await signIn(world);
    const cookie = `tailrace_session=${browser.cookie("tailrace_session")}`;
    const { authenticator } = world.auth;
    const upgrade = (headers: Record<string, string>) =>
      authenticator.authenticateUpgrade({ method: "GET", headers, ip: "127.0.0.1" });
    await assert.rejects(upgrade({ cookie }), { code: "forbidden" });
    await assert.rejects(upgrade({ cookie, origin: "https://evil.example" }), { code: "forbidden" });
    await assert.rejects(upgrade({}), { code: "unauthenticated" });
    const principal = await upgrade({ cookie, origin: world.origin });
    const ticket = await authenticator.ticketFor(principal);
    const uses = await Promise.allSettled(
      Array.from({ length: 10 }, () => authenticator.redeemTicket(ticket)),
    );
    assert.equal(uses.filter(({ status }) => status === "fulfilled").length, 1);
    const late = await authenticator.ticketFor(principal);
    mock.timers.enable({ apis: ["Date"], now: Date.now() + 31_000 });
    await assert.rejects(authenticator.redeemTicket(late), { code: "unauthenticated" });
  });
});
