import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { PERSON, type TestClient, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser } from "#test/conformance/oauth/browser.ts";

/** Changes the person's password to the same one, which the other tests sign in with. */
type Change = (world: World) => Promise<unknown>;

async function asAdministrator(world: World): Promise<void> {
  const { key, view } = await world.auth.apiKeys.issue({ name: "root", role: "admin" }, "test");
  const answer = await fetch(`${world.origin}/api/auth/accounts/${PERSON.name}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ password: PERSON.password }),
  });
  assert.equal(answer.status, 204);
  await world.auth.apiKeys.revoke(view.id, "test");
}

async function signedIn(world: World): Promise<Browser> {
  const browser = new Browser();
  const url = `${world.origin}/api/auth/login?return_to=/api/auth/me`;
  const form = await browser.follow(await browser.get(url), world.origin);
  await browser.follow(await browser.submit(form, "/sign-in", PERSON), world.origin);
  return browser;
}

async function changeOwn(world: World, browser: Browser): Promise<void> {
  const answer = await fetch(`${world.origin}/api/auth/password`, {
    method: "POST",
    headers: {
      origin: world.origin,
      cookie: `tailrace_session=${browser.cookie("tailrace_session")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ current: PERSON.password, password: PERSON.password }),
  });
  assert.equal(answer.status, 204);
}

const CHANGES: [string, Change][] = [
  ["by its owner", async (world) => changeOwn(world, await signedIn(world))],
  ["by an administrator", asAdministrator],
  // Without a cleanup afterwards, as if the process had died.
  ["by the command line", (world) => world.auth.accounts.setPassword(PERSON.name, PERSON.password, "cli")],
];

suite("a new password", () => {
  let world: World;
  let client: TestClient;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    client = await world.addClient();
  });
  after(() => world.stop());

  for (const [who, change] of CHANGES)
    test(`that is set ${who} ends codes and tokens that were issued before`, async () => {
      world.browser = await world.signedInBrowser();
      const { access, refresh } = await world.tokens(client);
      const code = await world.code(client);
      assert.equal(await world.apiStatus(access), 200);
      await change(world);
      assert.equal(await world.apiStatus(access), 401);
      assert.equal((await world.refresh(client, refresh)).body["error"], "invalid_grant");
      assert.equal((await world.exchange(client, code)).body["error"], "invalid_grant");
      world.browser = await world.signedInBrowser();
      const renewed = await world.tokens(client);
      assert.equal(await world.apiStatus(renewed.access), 200);
      assert.equal((await world.refresh(client, renewed.refresh)).status, 200);
    });

  test("ends codes of the dashboard's own sign-in", async () => {
    const browser = await signedIn(world);
    const authorization = (await browser.get(`${world.origin}/api/auth/login`)).location ?? "";
    const callback = (await browser.get(authorization)).location ?? "";
    assert.match(callback, /code=/);
    await world.auth.accounts.setPassword(PERSON.name, PERSON.password, "test");
    await browser.get(callback);
    assert.equal((await browser.get(`${world.origin}/api/auth/me`)).status, 401);
  });

  test("ends the sessions of its owner except the one that set it", async () => {
    const [own, other] = [await signedIn(world), await signedIn(world)];
    await changeOwn(world, own);
    assert.equal((await own.get(`${world.origin}/api/auth/me`)).status, 200);
    assert.equal((await other.get(`${world.origin}/api/auth/me`)).status, 401);
    const { id } = (await world.auth.accounts.find(PERSON.name))!;
    assert.equal((await world.auth.sessions.list(id)).length, 1);
  });

  test("keeps the session that set it, also a second time, whatever looks at it meanwhile", async () => {
    const own = await signedIn(world);
    const { id } = (await world.auth.accounts.find(PERSON.name))!;
    const [session] = await world.auth.sessions.list(id);
    // As a live socket of the same browser does.
    const looked: Promise<unknown>[] = [];
    const unsubscribe = world.auth.follower.onRightsChange(() => {
      looked.push(world.auth.sessions.get(session!.key));
    });
    for (let time = 0; time < 3; time++) await changeOwn(world, own);
    unsubscribe();
    assert.notEqual(looked.length, 0);
    assert.ok((await Promise.all(looked)).every((found) => found !== null));
    assert.equal((await own.get(`${world.origin}/api/auth/me`)).status, 200);
    await world.auth.accounts.setPassword(PERSON.name, PERSON.password, "test");
    assert.equal((await own.get(`${world.origin}/api/auth/me`)).status, 401);
  });

  test("is a success also if nothing that it ends can be deleted", async (t) => {
    const own = await signedIn(world);
    world.browser = await world.signedInBrowser();
    const { access } = await world.tokens(client);
    const remove = world.bucket.delete.bind(world.bucket);
    const failing = t.mock.method(world.bucket, "delete", (key: string, revision?: number) =>
      /^(session|oauth[.]Grant)[.]/.test(key)
        ? Promise.reject(new Error("no answer"))
        : remove(key, revision),
    );
    await changeOwn(world, own);
    await asAdministrator(world);
    failing.mock.restore();
    assert.equal(await world.apiStatus(access), 401);
  });

  test("waits for no token that was ever issued", async (t) => {
    world.browser = await world.signedInBrowser();
    const { refresh } = await world.tokens(client);
    assert.equal((await world.refresh(client, refresh)).status, 200);
    const deleted = t.mock.method(world.bucket, "delete");
    await changeOwn(world, await signedIn(world));
    const kinds = deleted.mock.calls.map(({ arguments: [key] }) => key.slice(0, key.lastIndexOf(".")));
    assert.ok(kinds.includes("oauth.Grant"));
    assert.ok(!kinds.some((kind) => kind.startsWith("oauth-family")));
  });

  test("doesn't keep a session that another change has ended meanwhile", async () => {
    const own = await signedIn(world);
    const { id } = (await world.auth.accounts.find(PERSON.name))!;
    const [session] = await world.auth.sessions.list(id);
    await world.auth.accounts.setRole(PERSON.name, "admin", ["*"], "test");
    const change = { password: PERSON.password, keeps: session!.key };
    await world.auth.accounts.update(PERSON.name, change, PERSON.name);
    assert.equal((await own.get(`${world.origin}/api/auth/me`)).status, 401);
  });

  test("isn't a new role, with which tokens go on", async () => {
    world.browser = await world.signedInBrowser();
    const { access, refresh } = await world.tokens(client);
    await world.auth.accounts.setRole(PERSON.name, "admin", ["*"], "test");
    assert.equal(await world.apiStatus(access), 200);
    assert.equal((await world.refresh(client, refresh)).status, 200);
  });

  const ENDS: [string, string, (accounts: World["auth"]["accounts"]) => Promise<unknown>][] = [
    ["a new password", "eve", (accounts) => accounts.setPassword("eve", PERSON.password, "test")],
    ["the removal of the account", "fay", (accounts) => accounts.remove("fay", "test")],
  ];
  for (const [what, name, end] of ENDS)
    test(`${what} ends what a grant of an earlier version allowed`, async () => {
      const { accounts } = world.auth;
      const { id } = await accounts.add({ ...PERSON, name, role: "viewer" }, "test");
      const refresh = await refreshTokenOf(name);
      await forgetEpochs(id);
      assert.equal((await world.refresh(client, refresh)).status, 200);
      await end(accounts);
      assert.equal((await world.refresh(client, refresh)).body["error"], "invalid_grant");
    });

  async function refreshTokenOf(name: string): Promise<string> {
    const browser = new Browser();
    let page = await browser.follow(await browser.get(world.authorizationUrl(client)), world.origin);
    page = await browser.submit(page, "/sign-in", { ...PERSON, name });
    page = await browser.follow(page, world.origin);
    page = await browser.follow(await browser.submit(page, "/consent"), world.origin);
    const code = new URL(page.location ?? "").searchParams.get("code") ?? "";
    return String((await world.exchange(client, code)).body["refresh_token"]);
  }

  /** Makes grants as hubs stored them that knew no epochs. */
  async function forgetEpochs(accountId: string): Promise<void> {
    for (const key of await world.bucket.keys("oauth.Grant.")) {
      const text = Buffer.from((await world.bucket.get(key))!.value).toString();
      const record = JSON.parse(text) as { data: { accountId: string; accountEpoch?: number } };
      if (record.data.accountId !== accountId) continue;
      delete record.data.accountEpoch;
      await world.bucket.put(key, Buffer.from(JSON.stringify(record)));
    }
  }
});
