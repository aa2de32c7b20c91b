/** The authorization endpoint and the prompt: cases A01 to A22. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { until } from "#test/harness/until.ts";
import { PERSON, REDIRECT_URI, World } from "./auth-server.ts";
import { authorizationCases } from "./authorization-cases.ts";
import { Browser } from "./browser.ts";
import { OTHER_SCOPE } from "./settings.ts";

suite("authorization endpoint", () => {
  let world: World;
  let signedIn: Browser;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    signedIn = await world.signedInBrowser();
    world.browser = signedIn;
  });
  after(() => world.stop());

  for (const { id, name, change, twice, publicClient, expect } of authorizationCases) {
    test(`${id} ${name}`, async () => {
      const client = await world.addClient([REDIRECT_URI], publicClient === true ? { kind: "public" } : {});
      const url = new URL(world.authorizationUrl(client, change));
      if (twice !== undefined) url.searchParams.append(twice, "second");
      const page = await new Browser().get(url.href);
      if (expect === "page") {
        assert.equal(page.status, 400);
        assert.equal(page.location, null);
        assert.match(page.text, /<h1>/);
        return;
      }
      assert.ok(page.location?.startsWith(REDIRECT_URI), `${page.status} ${page.location}`);
      const answer = new URL(page.location ?? "").searchParams;
      assert.ok(expect.includes(answer.get("error") ?? ""), answer.toString());
      assert.equal(answer.get("code"), null);
      assert.equal(answer.get("iss"), world.origin);
      if (twice !== "state") assert.equal(answer.get("state"), "st-1");
    });
  }

  test("A01 prompt, approval, 303 to redirect_uri with code, state and iss", async () => {
    const client = await world.addClient();
    const browser = new Browser();
    const page = await world.approve(browser, world.authorizationUrl(client, { state: "a b&c=ü" }));
    assert.equal(page.status, 303);
    assert.ok(page.location?.startsWith(`${REDIRECT_URI}?`));
    const answer = new URL(page.location ?? "").searchParams;
    assert.match(answer.get("code") ?? "", /^[A-Za-z0-9_-]{43}$/);
    assert.equal(answer.get("state"), "a b&c=ü");
    assert.equal(answer.get("iss"), world.origin);
    assert.equal(page.headers.get("cache-control"), "no-store");
  });

  test("A02b an error page is JSON where the client accepts that", async () => {
    const page = await new Browser().get(world.authorizationUrl({ clientId: "nobody" }), {
      accept: "application/json",
    });
    assert.equal(page.status, 400);
    assert.equal(JSON.parse(page.text).error, "invalid_client");
  });

  test("A10 the user refuses: access_denied with state and iss, no code", async () => {
    const client = await world.addClient();
    const page = await world.approve(signedIn, world.authorizationUrl(client), "cancel");
    const answer = new URL(page.location ?? "").searchParams;
    assert.equal(answer.get("error"), "access_denied");
    assert.equal(answer.get("state"), "st-1");
    assert.equal(answer.get("iss"), world.origin);
    assert.equal(answer.get("code"), null);
  });

  test("A11 a wrong password: 401, no session, no code", async () => {
    const client = await world.addClient();
    const browser = new Browser();
    const form = await browser.follow(await browser.get(world.authorizationUrl(client)), world.origin);
    const page = await browser.submit(form, "/sign-in", { name: PERSON.name, password: "wrong password" });
    assert.equal(page.status, 401);
    assert.equal(page.location, null);
    assert.match(page.text, /role="alert"/);
    assert.equal(browser.cookie("tailrace_provider"), undefined);
  });

  test("A13 a second request of a signed-in user for allowed scopes gives a code without a prompt", async () => {
    const client = await world.addClient();
    await world.code(client, {}, signedIn);
    const page = await signedIn.get(world.authorizationUrl(client));
    assert.ok(new URL(page.location ?? "").searchParams.has("code"), `${page.location}`);
  });

  test("A13b a consent is valid in another browser of the same person", async () => {
    const client = await world.addClient();
    await world.code(client, {}, signedIn);
    const browser = new Browser();
    const form = await browser.follow(await browser.get(world.authorizationUrl(client)), world.origin);
    const page = await browser.follow(await browser.submit(form, "/sign-in", PERSON), world.origin);
    assert.ok(page.location?.startsWith(REDIRECT_URI), page.text.slice(0, 200));
  });

  test("A13c a public client needs consent each time", async () => {
    const client = await world.addClient([REDIRECT_URI], { kind: "public" });
    const pkce = {
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
    };
    await world.code(client, pkce, signedIn);
    const page = await signedIn.follow(
      await signedIn.get(world.authorizationUrl(client, pkce)),
      world.origin,
    );
    assert.match(page.text, /\/consent"/);
  });

  test("A13d a confidential client may go without PKCE, and the list of clients shows it", async () => {
    const client = await world.addClient();
    const withPkce = await world.addClient();
    await world.code(client, {}, signedIn);
    await world.code(
      withPkce,
      { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" },
      signedIn,
    );
    await until("the use without PKCE is recorded", async () => {
      const clients = await world.auth.provider.clients.list();
      const lastOf = ({ clientId }: { clientId: string }) =>
        clients.find((each) => each.clientId === clientId)?.withoutPkceAt;
      assert.equal(lastOf(withPkce), undefined);
      return lastOf(client);
    });
  });

  test("A13e with auth.provider.require_pkce every client needs PKCE", async () => {
    const strict = await World.start({ settings: { "auth.provider.require_pkce": true } });
    try {
      const client = await strict.addClient();
      const page = await new Browser().get(strict.authorizationUrl(client));
      const { searchParams } = new URL(page.location ?? "");
      assert.equal(searchParams.get("error"), "invalid_request");
      assert.match(searchParams.get("error_description") ?? "", /PKCE/);
    } finally {
      await strict.stop();
    }
  });

  test("A14 prompt=consent shows the prompt again", async () => {
    const client = await world.addClient();
    await world.code(client, {}, signedIn);
    const page = await signedIn.follow(
      await signedIn.get(world.authorizationUrl(client, { prompt: "consent" })),
      world.origin,
    );
    assert.match(page.text, /\/consent"/);
    const done = await signedIn.follow(await signedIn.submit(page, "/consent"), world.origin);
    assert.ok(new URL(done.location ?? "").searchParams.has("code"));
  });

  test("A15 a scope beyond the consent shows the prompt again", async () => {
    const client = await world.addClient();
    await world.code(client, {}, signedIn);
    const scope = `${world.scope("logs.read")} ${OTHER_SCOPE}`;
    const page = await signedIn.follow(
      await signedIn.get(world.authorizationUrl(client, { scope })),
      world.origin,
    );
    assert.match(page.text, /\/consent"/);
    assert.ok(page.text.includes(OTHER_SCOPE));
  });

  test("A16 markup in parameters is never shown raw", async () => {
    const evil = '"><script>alert(1)</script>';
    const client = await world.addClient();
    const urls = [
      world.authorizationUrl(client, { state: evil, login_hint: evil }),
      world.authorizationUrl(client, { scope: evil, redirect_uri: evil }),
      world.authorizationUrl({ clientId: evil }),
    ];
    for (const url of urls) {
      const browser = new Browser();
      const page = await browser.follow(await browser.get(url), world.origin);
      assert.ok(!page.text.includes("<script>"), page.text);
    }
  });

  test("A17 a registered redirect_uri with a query keeps it", async () => {
    const uri = "http://localhost:7777/cb?tenant=a%20b";
    const client = await world.addClient([uri]);
    const page = await world.approve(signedIn, world.authorizationUrl(client, { redirect_uri: uri }));
    const answer = new URL(page.location ?? "").searchParams;
    assert.equal(answer.get("tenant"), "a b");
    assert.ok(answer.has("code"));
  });

  test("A18 prompt pages aren't cached, framed or sent as a referrer", async () => {
    const browser = new Browser();
    const client = await world.addClient();
    const started = await browser.get(world.authorizationUrl(client));
    const page = await browser.follow(started, world.origin);
    for (const { headers } of [started, page]) {
      assert.equal(headers.get("cache-control"), "no-store");
      assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
      assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
      assert.equal(headers.get("referrer-policy"), "no-referrer");
    }
    assert.ok(
      !/<script|style="|https?:\/\/(?!127)/.test(page.text),
      "no script, inline style or foreign address",
    );
  });

  test("A19 the prompt of another browser is refused", async () => {
    const client = await world.addClient();
    const page = await new Browser().get(world.authorizationUrl(client));
    const stranger = await new Browser().get(page.location ?? "");
    assert.equal(stranger.status, 400);
    assert.doesNotMatch(stranger.text, /password/);
  });

  test("A19b a prompt's form without its token is refused", async () => {
    const client = await world.addClient();
    const page = await signedIn.follow(await signedIn.get(world.authorizationUrl(client)), world.origin);
    const answer = await signedIn.post(`${page.url}/consent`, { token: "forged" });
    assert.equal(answer.status, 403);
    assert.equal(answer.location, null);
  });

  test("A20 cookies are HttpOnly and SameSite=Lax", async () => {
    const browser = new Browser();
    await world.code(await world.addClient(), {}, browser);
    assert.ok(browser.setCookies.length > 0);
    for (const line of browser.setCookies) assert.match(line, /(?=.*httponly)(?=.*samesite=lax)/i);
  });

  test("A23 sign-in gives the provider's session a new id (fixation)", async () => {
    const client = await world.addClient();
    const browser = new Browser();
    browser.setCookie("tailrace_provider", "planted");
    await world.code(client, {}, browser);
    assert.notEqual(browser.cookie("tailrace_provider"), "planted");
    const before = signedIn.cookie("tailrace_provider");
    await world.code(await world.addClient(), { prompt: "login" }, signedIn);
    assert.notEqual(signedIn.cookie("tailrace_provider"), before);
  });

  test("A24 another person's sign-in in the same browser starts a new session", async () => {
    const other = { name: "grace", password: "another battery staple" };
    await world.auth.accounts.add({ ...other, role: "viewer" }, "test");
    const browser = await world.signedInBrowser();
    const client = await world.addClient();
    const url = world.authorizationUrl(client, { prompt: "login" });
    const form = await browser.follow(await browser.get(url), world.origin);
    const page = await browser.follow(await browser.submit(form, "/sign-in", other), world.origin);
    assert.match(page.text, /signed in as grace/);
  });

  test("A25 a request by another name of the host is redirected to the public address", async () => {
    const client = await world.addClient();
    const url = world.authorizationUrl(client).replace("127.0.0.1", "localhost");
    const page = await new Browser().get(url);
    assert.equal(page.status, 303);
    assert.equal(page.location, world.authorizationUrl(client));
  });

  test("A26 forwarded headers of a request change nothing", async () => {
    const client = await world.addClient();
    const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    const page = await new Browser().get(world.authorizationUrl(client), headers);
    assert.ok(page.location?.startsWith(world.origin), `${page.location}`);
  });

  test("M01 metadata name the exact endpoints", async () => {
    const answer = await fetch(`${world.origin}/.well-known/oauth-authorization-server`);
    const metadata = (await answer.json()) as Record<string, unknown>;
    assert.equal(metadata["issuer"], world.origin);
    assert.equal(metadata["authorization_endpoint"], `${world.origin}/o/oauth2/v2/auth`);
    assert.equal(metadata["token_endpoint"], `${world.origin}/token`);
    assert.deepEqual(metadata["code_challenge_methods_supported"], ["S256"]);
    assert.equal(metadata["authorization_response_iss_parameter_supported"], true);
  });
});
