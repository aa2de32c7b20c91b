import assert from "node:assert/strict";
import { after, before, beforeEach, suite, test } from "node:test";
import { PERSON, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser, type Page } from "#test/conformance/oauth/browser.ts";
import { SampleProvider } from "#test/conformance/oauth/sample-provider.ts";

suite("sign-in at another provider", () => {
  const upstream = new SampleProvider();
  let world: World;
  before(async () => {
    await upstream.start();
    world = await World.start({
      settings: {
        "auth.provider.enabled": false,
        "auth.upstream.issuer": upstream.origin,
        "auth.upstream.client_id": upstream.clientId,
        "auth.upstream.client_secret": upstream.clientSecret,
        "auth.upstream.role_claim": "groups",
        "auth.upstream.roles": { operators: "editor", "boss@example.com": "admin" },
      },
    });
    await world.addPerson();
  });
  after(async () => {
    await world.stop();
    await upstream.stop();
  });
  beforeEach(() => {
    upstream.claims = { sub: "u1", email: "eve@example.com", groups: ["staff", "operators"] };
  });

  async function signIn(): Promise<{ browser: Browser; page: Page }> {
    const browser = new Browser();
    const left = await browser.get(`${world.origin}/api/auth/login?return_to=/api/auth/me`);
    const back = await browser.get(left.location ?? "");
    return { browser, page: await browser.follow(await browser.get(back.location ?? ""), world.origin) };
  }

  test("creates an account for the person, with the role of a claim", async () => {
    const { page } = await signIn();
    const me = JSON.parse(page.text) as { name: string; role: string };
    assert.deepEqual([me.name, me.role], ["eve@example.com", "editor"]);
    assert.ok(upstream.seen.some(({ path, query }) => path.endsWith("/auth") && query.has("code_challenge")));
  });

  test("gives a person no password: the answer says so, and a change of it is refused", async () => {
    const { browser, page } = await signIn();
    assert.equal((JSON.parse(page.text) as { has_password: boolean }).has_password, false);
    const answer = await fetch(`${world.origin}/api/auth/password`, {
      method: "POST",
      headers: {
        cookie: `tailrace_session=${browser.cookie("tailrace_session")}`,
        origin: world.origin,
        "content-type": "application/json",
      },
      body: JSON.stringify({ current: "", password: "correct horse battery" }),
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /signs in at another provider/);
  });

  test("recognises the person by sub, and applies a new role", async () => {
    const { browser } = await signIn();
    upstream.claims = { sub: "u1", email: "eve@example.com", groups: [] };
    assert.equal((await signIn()).page.status, 403, "no role any more");
    upstream.claims = { sub: "u1", email: "boss@example.com" };
    const { page } = await signIn();
    assert.equal((JSON.parse(page.text) as { role: string }).role, "admin");
    assert.equal(
      (await browser.get(`${world.origin}/api/auth/me`)).status,
      401,
      "the session with the old role is over",
    );
  });

  test("refuses a person without a role or a verified address, or with the name of a local account", async () => {
    const refused = [
      { sub: "u2", email: "stranger@example.com" },
      { sub: "u3", email: "boss@example.com", email_verified: false },
      { sub: "u4", email: PERSON.name, groups: ["operators"] },
      { sub: "u5", groups: ["operators"] },
    ];
    for (const claims of refused) {
      upstream.claims = claims;
      const { browser, page } = await signIn();
      assert.equal(page.status, 403, JSON.stringify(claims));
      assert.equal(browser.cookie("tailrace_session"), undefined);
    }
  });

  test("refuses an ID token that was issued to another client or has expired", async () => {
    for (const change of [{ aud: "another-client" }, { iss: "https://evil.example" }, { exp: 1 }]) {
      upstream.claims = { sub: "u1", email: "boss@example.com", ...change };
      const { browser, page } = await signIn();
      assert.ok(page.status >= 400, JSON.stringify(change));
      assert.equal(browser.cookie("tailrace_session"), undefined);
    }
  });

  test("a disabled embedded provider has no routes", async () => {
    for (const path of ["/o/oauth2/v2/auth", "/.well-known/oauth-authorization-server"]) {
      assert.equal((await fetch(world.origin + path)).status, 400);
    }
  });
});

suite("connected accounts over HTTP", () => {
  const other = new SampleProvider();
  let world: World;
  let key: string;
  before(async () => {
    await other.start();
    world = await World.start();
    key = (await world.auth.apiKeys.issue({ name: "root", role: "admin" }, "test")).key;
  });
  after(async () => {
    await world.stop();
    await other.stop();
  });

  function ask(method: string, path: string, body?: object): Promise<Response> {
    return fetch(world.origin + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  test("a provider is defined, an account connected through it, used and removed", async () => {
    const made = await ask("POST", "/api/connections/providers", {
      name: "Sample",
      auth_url: other.origin,
      token_url: other.origin,
      client_id: other.clientId,
      client_secret: other.clientSecret,
      scope: "https://api.example.com/auth/read",
      api_hosts: [new URL(other.origin).host],
    });
    const { id: provider } = (await made.json()) as { id: string };
    const started = await ask("POST", "/api/connections", { provider, name: "eve@sample" });
    const { url } = (await started.json()) as { url: string };
    const cookie = (started.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const back = (await fetch(url, { redirect: "manual" })).headers.get("location") ?? "";
    const elsewhere = await fetch(back, { headers: { "accept-language": "de" } });
    assert.equal(elsewhere.status, 400, "not in another browser");
    assert.match(await elsewhere.text(), /lang="de"[\s\S]*<h1>Nicht verbunden<\/h1>/);
    const again = (await (
      await ask("POST", "/api/connections", { provider, name: "eve@sample" })
    ).json()) as { url: string };
    assert.notEqual(again.url, url);
    const third = await ask("POST", "/api/connections", { provider, name: "eve@sample" });
    const binding = (third.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    assert.notEqual(binding, cookie);
    const target = ((await third.json()) as { url: string }).url;
    const callback = (await fetch(target, { redirect: "manual" })).headers.get("location") ?? "";
    const page = await fetch(callback, { headers: { cookie: binding, "accept-language": "de" } });
    assert.equal(page.status, 200);
    assert.match(await page.text(), /eve@sample ist verbunden/);
    const list = await (await ask("GET", "/api/connections")).text();
    const [{ id }] = (JSON.parse(list) as { connections: [{ id: string }] }).connections;
    assert.ok(!list.includes("token"));
    assert.equal((await ask("DELETE", `/api/connections/providers/${provider}`)).status, 400, "in use");
    assert.equal((await ask("DELETE", `/api/connections/${id}`)).status, 204);
    assert.equal((await ask("DELETE", `/api/connections/providers/${provider}`)).status, 204);
  });

  test("a viewer sees none of it", async () => {
    const viewer = await world.auth.apiKeys.issue({ name: "v", role: "viewer" }, "test");
    const headers = { authorization: `Bearer ${viewer.key}` };
    for (const path of ["/api/connections", "/api/connections/providers"]) {
      assert.equal((await fetch(world.origin + path, { headers })).status, 403);
    }
  });
});
