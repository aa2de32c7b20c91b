import assert from "node:assert/strict";
import { after, afterEach, before, mock, suite, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import type { Principal } from "#hub/auth/accounts/principal.ts";
import { PERSON, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser, type Page } from "#test/conformance/oauth/browser.ts";

suite("credentials", () => {
  let world: World;
  before(async () => {
    world = await World.start({ settings: { "auth.roles.viewer.indices": ["public-*"] } });
    await world.addPerson();
  });
  after(() => world.stop());
  afterEach(() => mock.timers.reset());

  const ip = "127.0.0.1";

  function authenticate(authorization: string): Promise<Principal> {
    return world.auth.authenticator.authenticate({
      method: "GET",
      headers: { authorization },
      ip: "127.0.0.1",
    });
  }

  test("an API key is shown once, kept as a hash, and works as Bearer, ApiKey and Basic", async () => {
    const { key, view } = await world.auth.apiKeys.issue(
      { name: "shipper", role: "ingest", indices: ["logs-*"] },
      "ada",
    );
    const secret = key.split("_").slice(2).join("_");
    const forms = [
      `Bearer ${key}`,
      `ApiKey ${key}`,
      `ApiKey ${Buffer.from(`${view.id}:${secret}`).toString("base64")}`,
      `Basic ${Buffer.from(`shipper:${key}`).toString("base64")}`,
    ];
    for (const authorization of forms) {
      const principal = await authenticate(authorization);
      assert.deepEqual([principal.kind, principal.name, principal.role], ["api_key", "shipper", "ingest"]);
      assert.deepEqual(principal.indices, ["logs-*"]);
    }
    const stored = Buffer.from((await world.bucket.get(`api-key.${view.id}`))!.value).toString();
    assert.ok(!stored.includes(secret));
    assert.equal(world.audit.filter(({ action }) => action === "api_key_used_first").length, 1);
  });

  test("an API key with a wrong secret, a revoked and an expired one are refused alike", async () => {
    const { apiKeys } = world.auth;
    const { key, view } = await apiKeys.issue(
      { name: "old", role: "viewer", expiresAt: Date.now() + 60_000 },
      "ada",
    );
    const refused = { code: "unauthenticated", message: /unknown, over or revoked/ };
    const tampered = `${key.slice(0, 40)}${key[40] === "A" ? "B" : "A"}${key.slice(41)}`;
    await assert.rejects(authenticate(`Bearer ${tampered}`), refused);
    await assert.rejects(authenticate("Bearer tlr_nonsense"), refused);
    mock.timers.enable({ apis: ["Date"], now: Date.now() + 61_000 });
    await assert.rejects(authenticate(`Bearer ${key}`), refused);
    mock.timers.reset();
    await authenticate(`Bearer ${key}`);
    await apiKeys.revoke(view.id, "ada");
    await assert.rejects(authenticate(`Bearer ${key}`), refused);
    await assert.rejects(apiKeys.revoke(view.id, "ada"), { code: "not_found" });
  });

  test("name and password work as Basic; a new password is valid immediately", async () => {
    await world.auth.accounts.add({ name: "Bob", password: "first password", role: "viewer" }, "test");
    const basic = (password: string): string => `Basic ${Buffer.from(`bob:${password}`).toString("base64")}`;
    const principal = await authenticate(basic("first password"));
    assert.deepEqual([principal.name, principal.indices], ["Bob", ["public-*"]]);
    await authenticate(basic("first password"));
    await world.auth.accounts.setPassword("bob", "second password", "test");
    await assert.rejects(authenticate(basic("first password")), { code: "unauthenticated" });
    await authenticate(basic("second password"));
  });

  test("an access token carries the role of its person and no more than its scope", async () => {
    const client = await world.addClient();
    const { access } = await world.tokens(client, {
      scope: `${world.scope("logs.read")} ${world.scope("manage")}`,
    });
    const principal = await authenticate(`Bearer ${access}`);
    assert.ok(principal.actions.has("search") && principal.actions.has("save"));
    assert.ok(!principal.actions.has("administer") && !principal.actions.has("ingest"));
  });

  test("the sixth wrong password has to wait; a browser that signed in before doesn't wait for others", async () => {
    await world.auth.accounts.add({ name: "carol", password: "right password", role: "viewer" }, "test");
    const client = await world.addClient();
    const attempt = async (browser: Browser): Promise<(password: string) => Promise<Page>> => {
      const url = world.authorizationUrl(client, { prompt: "login" });
      const form = await browser.follow(await browser.get(url), world.origin);
      return (password) => browser.submit(form, "/sign-in", { name: "carol", password });
    };
    const owner = new Browser();
    assert.equal((await (await attempt(owner))("right password")).status, 303);
    const guess = await attempt(new Browser());
    // The wait after the fifth failure is a second, which must not pass during the test.
    const start = Date.now();
    mock.timers.enable({ apis: ["Date"], now: start });
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await guess(`wrong password ${i}`)).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
    const page = await guess("right password");
    assert.equal(page.status, 429, "even the right one waits here");
    assert.ok(Number(page.headers.get("retry-after")) >= 1);
    assert.equal((await (await attempt(owner))("right password")).status, 303);
    mock.timers.setTime(start + 2_000);
    assert.equal((await guess("right password")).status, 303);
  });

  test("parallel guesses don't slip through between check and count", async () => {
    await world.auth.accounts.add({ name: "frank", password: "right password", role: "viewer" }, "test");
    const basic = (i: number): string => `Basic ${Buffer.from(`frank:wrong ${i}`).toString("base64")}`;
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => authenticate(basic(i))));
    const codes = results.map((result) =>
      result.status === "rejected" ? (result.reason as { code: string }).code : "in",
    );
    assert.equal(codes.filter((code) => code === "unauthenticated").length, 5);
    assert.equal(codes.filter((code) => code === "overloaded").length, 15);
  });

  test("what strangers are refused fills the audit log only so far, and holds nothing that a password could be guessed from", async () => {
    const own = await World.start();
    try {
      await own.addPerson();
      mock.timers.enable({ apis: ["Date"], now: Date.now() });
      const pair = `${PERSON.name}:${PERSON.password}x`;
      await own.api("/sample/search", { authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
      assert.deepEqual(
        own.audit.filter(({ action }) => action === "request_refused").map(({ actor }) => actor),
        [PERSON.name],
      );
      for (let at = 0; at < 70; at++) {
        await new Browser().get(`${own.origin}/api/auth/callback?state=unknown`);
        await own.ask("/token", {
          grant_type: "authorization_code",
          client_id: `c${at}`,
          client_secret: "s",
        });
        const request = { token: "unknown", name: `a${at}`, publicKey: "U", ip: "127.0.0.1" };
        await assert.rejects(own.auth.agents.enrol(request), { code: "unauthenticated" });
      }
      assert.equal(own.audit.filter(({ action }) => action === "token_refused").length, 60);
      const signIns = own.audit.filter(
        ({ action, outcome }) => action === "sign_in" && outcome === "refused",
      );
      assert.equal(signIns.length, 60);
      const refused = own.audit.filter(({ action }) => action === "request_refused");
      assert.equal(refused.length, 11, "one of the password, ten of the enrolments");
      assert.deepEqual(new Set(refused.map(({ ip }) => ip)), new Set(["127.0.0.1"]));
      assert.equal(own.logs.join("").split("further refusals").length - 1, 2);
    } finally {
      await own.stop();
    }
  });

  test("an enrolment token makes one agent known; a revoked agent is gone", async () => {
    const { agents } = world.auth;
    const { token } = await agents.newEnrolmentToken("ada");
    const publicKey = nkeys.createUser().getPublicKey();
    const enrol = () => agents.enrol({ token, name: "web-1", publicKey, ip });
    await assert.rejects(agents.enrol({ token, name: "web-1", publicKey: "Unonsense", ip }), {
      code: "request_invalid",
    });
    assert.equal((await agents.openEnrolments()).length, 1);
    const uses = await Promise.allSettled(Array.from({ length: 5 }, enrol));
    assert.equal(uses.filter(({ status }) => status === "fulfilled").length, 1);
    assert.deepEqual(
      (await agents.list()).map(({ name, publicKey: key, issuedBy }) => [name, key, issuedBy]),
      [["web-1", publicKey, "ada"]],
    );
    assert.deepEqual(await agents.openEnrolments(), []);
    await agents.revoke("WEB-1", "ada");
    assert.deepEqual(await agents.list(), []);
    const { seed, credential } = await agents.issue("web-2", "ada");
    assert.equal(nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey(), credential.publicKey);
    const state = await world.bucket.get(`agent.${credential.publicKey}`);
    assert.ok(!Buffer.from(state!.value).toString().includes(seed));
  });

  test("no agent gets the name or the subjects of another, and its token stays good for the right request", async () => {
    const { agents } = world.auth;
    const { credential } = await agents.issue("db-1", "ada");
    const { token } = await agents.newEnrolmentToken("ada");
    const publicKey = nkeys.createUser().getPublicKey();
    const { agentId } = credential;
    for (const request of [
      { token, name: "DB-1", publicKey, ip },
      { token, name: "db-2", publicKey, agentId, ip },
      { token, name: "db-2", publicKey: credential.publicKey, ip },
    ]) {
      await assert.rejects(agents.enrol(request), { code: "name_taken" });
    }
    await assert.rejects(agents.enrol({ token: "unknown", name: "db-1", publicKey, ip }), {
      code: "unauthenticated",
    });
    await agents.enrol({ token, name: "db-2", publicKey, ip });
    await agents.revoke("db-1", "ada");
    const again = await agents.newEnrolmentToken("ada", 60_000);
    const next = nkeys.createUser().getPublicKey();
    assert.equal(
      (await agents.enrol({ token: again.token, name: "db-1", publicKey: next, agentId, ip })).agentId,
      agentId,
    );
    const unused = await agents.newEnrolmentToken("ada");
    const [open] = await agents.openEnrolments();
    await agents.withdrawEnrolment(open!.id, "ada");
    await assert.rejects(agents.enrol({ token: unused.token, name: "db-3", publicKey, ip }), {
      code: "unauthenticated",
    });
  });

  test("account names are unique whatever their case, and odd ones are refused", async () => {
    await assert.rejects(world.auth.accounts.add({ ...PERSON, name: "ADA", role: "viewer" }, "test"), {
      code: "request_invalid",
      message: /already/,
    });
    for (const name of ["", " x", "a b", "<b>", "x".repeat(101), "../etc"]) {
      await assert.rejects(world.auth.accounts.add({ ...PERSON, name, role: "viewer" }, "test"), {
        code: "request_invalid",
      });
    }
  });

  test("a client registration that is unsafe is refused with the reason", async () => {
    const cases: [string[], RegExp][] = [
      [["http://app.example.com/cb"], /https/],
      [["https://app.example.com/cb#x"], /fragment/],
      [["https://*.example.com/cb"], /wildcard/],
      [["https://user@app.example.com/cb"], /user/],
      [["/cb"], /absolute/],
      [["javascript:alert(1)"], /https/],
      [[], /1 to 20/],
    ];
    for (const [redirectUris, message] of cases) {
      await assert.rejects(world.addClient(redirectUris), { code: "request_invalid", message });
    }
  });

  test("expired records are swept, others stay", async () => {
    const { key } = await world.auth.apiKeys.issue(
      { name: "short", role: "viewer", expiresAt: Date.now() + 1_000 },
      "ada",
    );
    const id = key.split("_")[1] ?? "";
    const client = await world.addClient();
    await world.code(client);
    const before = (await world.bucket.keys()).length;
    mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 });
    assert.ok((await world.auth.follower.sweep()) > 0);
    assert.equal(await world.bucket.get(`api-key.${id}`), null);
    assert.notEqual(await world.auth.provider.clients.get(client.clientId), null);
    assert.ok((await world.bucket.keys()).length < before);
    assert.equal(await world.auth.follower.sweep(), 0);
  });

  test("removing an account ends its tokens, sessions and consents", async () => {
    const { accounts, provider } = world.auth;
    const { id } = await accounts.add({ name: "dora", password: "a long password", role: "admin" }, "test");
    const secret = await world.auth.sessions.open(id, 1, { ip: "127.0.0.1", userAgent: "test" });
    await provider.consents.add(id, "abc", ["https://x.example"]);
    const { key } = await world.auth.apiKeys.issue({ name: "root", role: "admin" }, "test");
    const answer = await fetch(`${world.origin}/api/auth/accounts/dora`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(answer.status, 204);
    assert.equal(await world.auth.sessions.find(secret), null);
    assert.deepEqual(await provider.consents.list(id), []);
  });
});
