import assert from "node:assert/strict";
import { after, afterEach, before, mock, suite, test } from "node:test";
import { HOUR_MS } from "#proto/kit/units.ts";
import { PERSON, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser, type Page } from "#test/conformance/oauth/browser.ts";
import { countWaits } from "#test/conformance/oauth/count-waits.ts";
import { relogin, signIn } from "#test/conformance/oauth/dashboard-browser.ts";

suite("a browser that the dashboard remembers", () => {
  let world: World;
  before(async () => {
    world = await World.start();
    await world.addPerson();
  });
  after(() => world.stop());
  afterEach(() => mock.timers.reset());

  test("a browser that is remembered signs in with few calls of the state, each of which waits for the log", async () => {
    const { browser } = await signIn(world);
    const { bucket } = world;
    const calls = (["get", "create", "put", "update", "delete", "keys"] as const).map((name) => ({
      name,
      count: mock.method(bucket, name).mock,
    }));
    try {
      await browser.follow(await browser.get(`${world.origin}/api/auth/login`), world.origin);
      const made = calls.map(({ name, count }) => `${count.callCount()} ${name}`);
      assert.deepEqual(made, ["3 get", "1 create", "2 put", "1 update", "3 delete", "0 keys"]);
    } finally {
      for (const { count } of calls) count.restore();
    }
  });

  test("a browser that is remembered waits for the state few times, one after the other", async () => {
    const { browser } = await signIn(world);
    await relogin(world, browser);
    const { bucket } = world;
    let location = `${world.origin}/api/auth/login?return_to=/sample/search`;
    const next = async (): Promise<void> => {
      const page = await browser.get(location);
      location = page.location ?? String(page.status);
    };
    const start = await countWaits(bucket, next);
    const authorization = await countWaits(bucket, next);
    const callback = await countWaits(bucket, next);
    const page = await countWaits(bucket, next);
    assert.equal(location, "200");
    assert.deepEqual(start, []);
    assert.deepEqual(authorization, [
      ["get account", "get oauth.Session"],
      ["put oauth.AuthorizationCode", "update oauth.Session"],
    ]);
    assert.deepEqual(callback, [
      ["delete oauth.AuthorizationCode", "get account"],
      ["create session", "delete session", "put session-of"],
    ]);
    assert.deepEqual(page, [["get account", "get session"]]);
  });

  test("a browser whose account was removed is asked to sign in, as whoever it wants", async () => {
    const bob = { name: "bob", password: "a long password" };
    await world.auth.accounts.add({ ...bob, role: "viewer" }, "test");
    const browser = new Browser();
    const login = `${world.origin}/api/auth/login?return_to=/api/auth/me`;
    const open = async (): Promise<Page> => browser.follow(await browser.get(login), world.origin);
    const signInAs = async (form: Page, person: typeof bob): Promise<string> => {
      const page = await browser.follow(await browser.submit(form, "/sign-in", person), world.origin);
      return (JSON.parse(page.text) as { name: string }).name;
    };
    assert.equal(await signInAs(await open(), bob), "bob");
    assert.equal(JSON.parse((await open()).text).name, "bob");
    await world.auth.accounts.remove("bob", "test");
    const form = await open();
    assert.match(form.text, /type="password"/);
    assert.equal(await signInAs(form, PERSON), PERSON.name);
  });

  test("the provider's session of a remembered browser and its account are read at once", async () => {
    const { browser } = await signIn(world);
    const { bucket } = world;
    const get = bucket.get.bind(bucket);
    const underWay: string[] = [];
    let atOnce = 0;
    const watched = mock.method(bucket, "get", async (key: string) => {
      underWay.push(key);
      const is = (kind: string): boolean => underWay.some((each) => each.startsWith(kind));
      if (is("oauth.Session.") && is("account.")) atOnce++;
      return get(key).finally(() => underWay.splice(underWay.indexOf(key), 1));
    });
    const { location } = await browser.get(`${world.origin}/api/auth/login`);
    const authorized = await browser.get(location!);
    watched.mock.restore();
    assert.match(authorized.location!, /[?&]code=/);
    assert.equal(atOnce, 1);
  });

  test("a new password or role asks for the password at the next sign-in, also in a browser that was signed in", async () => {
    const { browser } = await signIn(world);
    assert.equal((await relogin(world, browser)).status, 200);
    await world.auth.accounts.setPassword(PERSON.name, PERSON.password, "test");
    assert.match((await relogin(world, browser)).text, /type="password"/);
    const { browser: other } = await signIn(world);
    await world.auth.accounts.setRole(PERSON.name, "admin", ["*"], "test");
    assert.match((await relogin(world, other)).text, /type="password"/);
  });

  /** Ends the session of a browser from another one, which is returned. */

  async function endElsewhere(lost: Browser): Promise<Browser> {
    const { browser: own } = await signIn(world);
    const list = JSON.parse((await lost.get(`${world.origin}/api/auth/sessions`)).text).sessions as {
      key: string;
      current: boolean;
    }[];
    const key = list.find(({ current }) => current)?.key;
    const headers = { origin: world.origin, cookie: `tailrace_session=${own.cookie("tailrace_session")}` };
    const url = `${world.origin}/api/auth/sessions/${key}`;
    assert.equal((await fetch(url, { method: "DELETE", headers })).status, 204);
    return own;
  }

  test("a browser whose session was ended elsewhere must give the password again, others needn't", async () => {
    const lost = await signIn(world);
    const own = await endElsewhere(lost.browser);
    assert.match((await relogin(world, lost.browser)).text, /type="password"/);
    assert.equal((await relogin(world, own)).status, 200);
  });

  test("a browser that was signed in for days without the password can still be signed out elsewhere", async () => {
    const { browser } = await signIn(world);
    const start = Date.now();
    mock.timers.enable({ apis: ["Date"], now: start });
    for (let hours = 10; hours < 7 * 24; hours += 10) {
      mock.timers.setTime(start + hours * HOUR_MS);
      await relogin(world, browser);
    }
    await endElsewhere(browser);
    assert.match((await relogin(world, browser)).text, /type="password"/);
  });

  test("a session at the provider that another hub has stored since it was read gets its name again", async () => {
    const { browser } = await signIn(world);
    await relogin(world, browser);
    const { bucket } = world;
    const update = bucket.update.bind(bucket);
    const changed = mock.method(
      bucket,
      "update",
      async (key: string, value: Uint8Array, revision: number) => {
        if (key.startsWith("oauth.Session.") && changed.mock.callCount() === 0) {
          await bucket.put(key, value);
          for (const name of await bucket.keys("oauth-session-uid.")) await bucket.delete(name);
        }
        return update(key, value, revision);
      },
    );
    await relogin(world, browser);
    changed.mock.restore();
    await endElsewhere(browser);
    assert.match((await relogin(world, browser)).text, /type="password"/);
  });

  test("a session at the provider that a hub of before has stored since gets its longer entry again", async () => {
    const { browser } = await signIn(world);
    const start = Date.now();
    mock.timers.enable({ apis: ["Date"], now: start });
    await relogin(world, browser);
    const { bucket } = world;
    // That hub lets the entry expire with the session.
    for (const kind of ["oauth.Session.", "oauth-session-uid."])
      for (const key of await bucket.keys(kind)) {
        const record = JSON.parse(Buffer.from((await bucket.get(key))!.value).toString()) as object;
        await bucket.put(key, Buffer.from(JSON.stringify({ ...record, exp: start + 12 * HOUR_MS })));
      }
    mock.timers.setTime(start + HOUR_MS);
    await relogin(world, browser);
    mock.timers.setTime(start + 12.5 * HOUR_MS);
    await endElsewhere(browser);
    assert.match((await relogin(world, browser)).text, /type="password"/);
  });

  test("a session at the provider that is ended during a request is not stored again by it", async () => {
    const { browser } = await signIn(world);
    await relogin(world, browser);
    const { bucket } = world;
    const update = bucket.update.bind(bucket);
    let count = 0;
    const ended = mock.method(bucket, "update", async (key: string, value: Uint8Array, revision: number) => {
      if (key.startsWith("oauth.Session.") && ++count === 1) await bucket.delete(key);
      return update(key, value, revision);
    });
    await relogin(world, browser);
    ended.mock.restore();
    assert.equal(count, 1);
    assert.match((await relogin(world, browser)).text, /type="password"/);
  });

  test("signing in without the password goes on for 7 d after the last time it was given at most", async () => {
    const { browser } = await signIn(world);
    const start = Date.now();
    mock.timers.enable({ apis: ["Date"], now: start });
    for (let hours = 10; hours < 7 * 24; hours += 10) {
      mock.timers.setTime(start + hours * HOUR_MS);
      assert.equal((await relogin(world, browser)).status, 200, `${hours} h`);
    }
    mock.timers.setTime(start + 7 * 24 * HOUR_MS + 1_000);
    assert.match((await relogin(world, browser)).text, /type="password"/);
  });
});
