/**
 * Delegated access, row by row as the specification has it, by plain HTTP and nothing else: what a person with curl
 * and a browser would see.
 */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { PERSON, REDIRECT_URI, type TestClient, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser } from "./oauth/browser.ts";

suite("specification: delegated access", () => {
  let world: World;
  let client: TestClient;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    client = await world.addClient();
    world.browser = await world.signedInBrowser();
  });
  after(() => world.stop());

  test("rule 1: registration yields client_id and client_secret, the secret once", async () => {
    const browser = await dashboard();
    const answer = await fetch(`${world.origin}/api/auth/clients`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        cookie: `tailrace_session=${browser.cookie("tailrace_session")}`,
        origin: world.origin,
      },
      body: JSON.stringify({ name: "Console", kind: "confidential", redirect_uris: [REDIRECT_URI] }),
    });
    assert.equal(answer.status, 201);
    const registered = (await answer.json()) as { client_id: string; client_secret: string };
    assert.ok(registered.client_id.length > 0 && registered.client_secret.length >= 43);
    const list = await browser.get(`${world.origin}/api/auth/clients`);
    assert.ok(list.text.includes(registered.client_id));
    assert.ok(!list.text.includes(registered.client_secret));
  });

  test("rules 2 to 4: GET {auth_url}/o/oauth2/v2/auth shows the provider's prompt, approval sends the code to redirect_uri", async () => {
    const browser = new Browser();
    const url = world.authorizationUrl(client, { state: undefined });
    assert.deepEqual([...new URL(url).searchParams.keys()].sort(), [
      "client_id",
      "redirect_uri",
      "response_type",
      "scope",
    ]);
    const prompt = await browser.follow(await browser.get(url), world.origin);
    assert.equal(prompt.status, 200);
    assert.match(prompt.text, /<input[^>]+type="password"/);
    assert.equal(
      new URL(prompt.url).origin,
      world.origin,
      "the user is asked at the provider, never at the client",
    );
    const consent = await browser.follow(await browser.submit(prompt, "/sign-in", PERSON), world.origin);
    assert.ok(consent.text.includes("Reporter"));
    assert.ok(consent.text.includes(world.scope("logs.read")));
    const back = await browser.follow(await browser.submit(consent, "/consent"), world.origin);
    assert.ok(back.location?.startsWith(`${REDIRECT_URI}?code=`), String(back.location));
  });

  test("response_type must be the literal code", async () => {
    const page = await new Browser().get(world.authorizationUrl(client, { response_type: "CODE" }));
    assert.equal(new URL(page.location ?? "").searchParams.get("error"), "unsupported_response_type");
  });

  for (const missing of ["scope", "redirect_uri", "client_id", "response_type"]) {
    test(`the authorization request needs ${missing}`, async () => {
      const page = await new Browser().get(world.authorizationUrl(client, { [missing]: undefined }));
      const answer = page.location === null ? null : new URL(page.location).searchParams;
      assert.ok(page.status === 400 || answer?.has("error"), `${page.status} ${page.location}`);
      assert.ok(answer === null || !answer.has("code"));
    });
  }

  test("rule 5: POST {token_url}/token?code=…&client_id=…&client_secret=…&redirect_uri=…&grant_type=authorization_code", async () => {
    const query = new URLSearchParams(exchange(await world.code(client)));
    const answer = await fetch(`${world.origin}/token?${query.toString()}`, { method: "POST" });
    assert.equal(answer.status, 200);
    const tokens = (await answer.json()) as Record<string, unknown>;
    assert.equal(typeof tokens["access_token"], "string");
    assert.equal(typeof tokens["refresh_token"], "string");
  });

  for (const missing of ["code", "client_id", "client_secret", "redirect_uri", "grant_type"]) {
    test(`the exchange needs ${missing}`, async () => {
      const query = new URLSearchParams(exchange(await world.code(client)));
      query.delete(missing);
      const answer = await fetch(`${world.origin}/token?${query.toString()}`, { method: "POST" });
      assert.ok(answer.status === 400 || answer.status === 401, String(answer.status));
      assert.doesNotMatch(await answer.text(), /access_token/);
    });
  }

  test("redirect_uri of the exchange is the one of the authorization request", async () => {
    const query = new URLSearchParams({
      ...exchange(await world.code(client)),
      redirect_uri: `${REDIRECT_URI}2`,
    });
    assert.equal((await fetch(`${world.origin}/token?${query.toString()}`, { method: "POST" })).status, 400);
  });

  test("rule 6: Authorization: Bearer <ACCESS_TOKEN> opens the API", async () => {
    const { access } = await world.tokens(client);
    const answer = await fetch(`${world.origin}/sample/search`, {
      headers: { Authorization: `Bearer ${access}` },
    });
    assert.equal(answer.status, 200);
    assert.equal((await fetch(`${world.origin}/sample/search`)).status, 401);
  });

  for (const contentType of ["application/x-www-form-urlencoded", "multipart/form-data"]) {
    test(`rule 7: refresh as ${contentType}, without asking the user`, async () => {
      const { access, refresh } = await world.tokens(client);
      const fields = {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        refresh_token: refresh,
        grant_type: "refresh_token",
      };
      const body = contentType.startsWith("multipart") ? new FormData() : new URLSearchParams();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      const answer = await fetch(`${world.origin}/token`, { method: "POST", body });
      assert.equal(answer.status, 200);
      const next = String(((await answer.json()) as Record<string, unknown>)["access_token"]);
      assert.notEqual(next, access);
      assert.equal(await world.apiStatus(next), 200);
    });
  }

  test("rule 8: a stolen refresh token without client_secret gives nothing", async () => {
    const { refresh } = await world.tokens(client);
    for (const secret of [undefined, "guessed"]) {
      const answer = await world.refresh(client, refresh, { client_secret: secret });
      assert.equal(answer.status, 401);
      assert.equal(answer.body["access_token"], undefined);
    }
  });

  /** Signs in on the dashboard. */
  async function dashboard(): Promise<Browser> {
    const browser = new Browser();
    const page = await browser.follow(
      await browser.get(`${world.origin}/api/auth/login?return_to=/api/auth/me`),
      world.origin,
    );
    const me = await browser.follow(await browser.submit(page, "/sign-in", PERSON), world.origin);
    assert.equal(me.status, 200, me.text);
    return browser;
  }

  function exchange(code: string): Record<string, string> {
    return {
      code,
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirect_uri: REDIRECT_URI,
      grant_type: "authorization_code",
    };
  }
});
