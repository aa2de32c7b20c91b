/** Bearer tokens, revocation, introspection, and what is written where: cases B01 to B07, V01 to V04, D01. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { basicHeader, exchangeFields, type TestClient, type TokenAnswer, World } from "./auth-server.ts";
import { OTHER_SCOPE } from "./settings.ts";
import { SlowBucket } from "./slow-bucket.ts";

suite("tokens at the API", () => {
  let world: World;
  let client: TestClient;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    world.browser = await world.signedInBrowser();
    client = await world.addClient();
  });
  after(() => world.stop());

  test("B01 no token: 401 with a challenge and no error code", async () => {
    const answer = await world.api("/sample/search");
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="tailrace"');
  });

  test("B02 a bad token: 401 invalid_token", async () => {
    const answer = await world.api("/sample/search", { authorization: `Bearer ${"x".repeat(43)}` });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
  });

  test("B02b a malformed header: 400 invalid_request", async () => {
    for (const authorization of ["Bearer", "Bearer a b", "Digest x"]) {
      const answer = await world.api("/sample/search", { authorization });
      assert.equal(answer.status, 400, authorization);
      assert.match(answer.headers.get("www-authenticate") ?? "", /error="invalid_request"/);
    }
  });

  test("B04 a token without the scope: 403 insufficient_scope naming it", async () => {
    const { access } = await world.tokens(client, { scope: world.scope("logs.write") });
    const answer = await world.api("/sample/search", { authorization: `Bearer ${access}` });
    assert.equal(answer.status, 403);
    const challenge = answer.headers.get("www-authenticate") ?? "";
    assert.match(challenge, /error="insufficient_scope"/);
    assert.ok(challenge.includes(`scope="${world.scope("logs.read")}"`), challenge);
  });

  test("B04b a scope of another API allows nothing here", async () => {
    const { access } = await world.tokens(client, { scope: OTHER_SCOPE });
    assert.equal(await world.apiStatus(access), 403);
  });

  test("B05 a refresh token isn't an access token", async () => {
    const { refresh } = await world.tokens(client);
    assert.equal(await world.apiStatus(refresh), 401);
  });

  test("B06 the scheme's case doesn't matter", async () => {
    const { access } = await world.tokens(client);
    const answer = await world.api("/sample/search", { authorization: `bEaReR ${access}` });
    assert.equal(answer.status, 200);
  });

  test("B07 a token in the query string isn't accepted", async () => {
    const { access } = await world.tokens(client);
    const answer = await world.api(`/sample/search?access_token=${access}`);
    assert.equal(answer.status, 401);
  });

  test("V01 revoking the refresh token ends it and the access token", async () => {
    const { access, refresh } = await world.tokens(client);
    assert.equal((await revoke(refresh)).status, 200);
    assert.equal((await world.refresh(client, refresh)).body["error"], "invalid_grant");
    assert.equal(await world.apiStatus(access), 401);
  });

  test("V02 revoking an unknown token: 200", async () => {
    assert.equal((await revoke("unknown")).status, 200);
  });

  test("V03 revoking by another client changes nothing", async () => {
    const { access, refresh } = await world.tokens(client);
    assert.equal((await revoke(refresh, await world.addClient())).status, 200);
    assert.equal(await world.apiStatus(access), 200);
  });

  test("V04 revoking without the secret: 401", async () => {
    const { access, refresh } = await world.tokens(client);
    assert.equal((await revoke(refresh, { ...client, clientSecret: "" })).status, 401);
    assert.equal(await world.apiStatus(access), 200);
  });

  test("V05 withdrawing the consent ends everything, and the prompt comes back", async () => {
    const own = await world.addClient();
    const { access, refresh } = await world.tokens(own);
    const { id } = (await world.auth.accounts.find("ada"))!;
    const { consents } = world.auth.provider;
    assert.ok((await consents.list(id)).some(({ clientId }) => clientId === own.clientId));
    await consents.withdraw(id, own.clientId, "ada");
    assert.equal(await world.apiStatus(access), 401);
    assert.equal((await world.refresh(own, refresh)).body["error"], "invalid_grant");
    const page = await world.browser.follow(
      await world.browser.get(world.authorizationUrl(own)),
      world.origin,
    );
    assert.match(page.text, /\/consent"/);
  });

  test("V05b a consent withdrawn while a code is being made brings the prompt back", async () => {
    const bucket = new WithdrawingBucket(new MemoryBucket());
    const withdrawing = await World.start({ bucket });
    try {
      await withdrawing.addPerson();
      const own = await withdrawing.addClient();
      await withdrawing.tokens(own);
      const { id } = (await withdrawing.auth.accounts.find("ada"))!;
      bucket.beforeGrant = () => withdrawing.auth.provider.consents.withdraw(id, own.clientId, "ada");
      const { browser, origin } = withdrawing;
      const page = await browser.follow(await browser.get(withdrawing.authorizationUrl(own)), origin);
      assert.match(page.text, /\/consent"/);
    } finally {
      await withdrawing.stop();
    }
  });

  test("I01 a resource server can introspect a token, another client can't", async () => {
    const { access } = await world.tokens(client, { scope: OTHER_SCOPE });
    const server = await world.addClient([], { kind: "resource_server" });
    const told = await introspect(access, server);
    assert.equal(told.body["active"], true);
    assert.equal(told.body["scope"], OTHER_SCOPE);
    assert.equal(told.body["client_id"], client.clientId);
    assert.deepEqual((await introspect(access, await world.addClient())).body, { active: false });
    assert.deepEqual((await introspect("unknown", server)).body, { active: false });
    assert.equal((await introspect(access, { ...server, clientSecret: "wrong" })).status, 401);
  });

  test("D01 no credential is in the state or in a log", async () => {
    const code = await world.code(client, { state: "state-of-the-client" });
    const query = new URLSearchParams(exchangeFields(client, code));
    const answer = await fetch(`${world.origin}/token?${query.toString()}`, { method: "POST" });
    const tokens = (await answer.json()) as Record<string, string>;
    await world.apiStatus(tokens["access_token"]!);
    await world.refresh(client, tokens["refresh_token"]!);
    await world.browser.get(`${world.origin}/api/auth/callback?code=${code}&state=abc`);
    const secrets = [
      code,
      client.clientSecret,
      tokens["access_token"]!,
      tokens["refresh_token"]!,
      world.browser.cookie("tailrace_provider")!,
      "correct horse battery",
    ];
    const state: string[] = [];
    for (const key of await world.bucket.keys()) {
      state.push(key, Buffer.from((await world.bucket.get(key))?.value ?? "").toString());
    }
    const places = { state: state.join("\n"), logs: world.logs.join(""), audit: JSON.stringify(world.audit) };
    assert.ok(places.state.length > 1_000 && places.logs !== "" && places.audit.length > 1_000);
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} stands in the ${place}`);
    }
  });

  test("D02 credentials in the query string are logged, once per client", () => {
    const warnings = world.logs.filter((line) => line.includes("credentials in the query string"));
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]?.includes(client.clientId));
  });

  function revoke(token: string, by: TestClient = client): Promise<TokenAnswer> {
    return world.ask("/revoke", { token, client_id: by.clientId, client_secret: by.clientSecret });
  }

  function introspect(token: string, by: TestClient): Promise<TokenAnswer> {
    return world.ask("/introspect", { token }, { authorization: basicHeader(by) });
  }
});

test("D03 credentials in the query string are refused where the settings say so", async () => {
  const world = await World.start({ settings: { "auth.provider.query_credentials": "refuse" } });
  try {
    await world.addPerson();
    const client = await world.addClient();
    const fields = exchangeFields(client, await world.code(client));
    const refused = await world.ask(`/token?${new URLSearchParams(fields).toString()}`, {});
    assert.deepEqual([refused.status, refused.body["error"]], [400, "invalid_request"]);
    assert.equal((await world.ask("/token", fields)).status, 200);
  } finally {
    await world.stop();
  }
});

/** Runs a task before the next grant is stored. */
class WithdrawingBucket extends SlowBucket {
  beforeGrant: () => Promise<void> = () => Promise.resolve();

  override async put(key: string, value: Uint8Array): Promise<number> {
    if (key.startsWith("oauth.Grant.")) {
      const task = this.beforeGrant;
      this.beforeGrant = () => Promise.resolve();
      await task();
    }
    return super.put(key, value);
  }
}
