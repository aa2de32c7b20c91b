import assert from "node:assert/strict";
import { after, afterEach, before, mock, suite, test } from "node:test";
import { hashOf } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { PERSON, World } from "#test/conformance/oauth/auth-server.ts";
import { Browser } from "#test/conformance/oauth/browser.ts";
import { me, signIn } from "#test/conformance/oauth/dashboard-browser.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

suite("sign-in on the dashboard", () => {
  let world: World;
  before(async () => {
    world = await World.start();
    await world.addPerson();
  });
  after(() => world.stop());
  afterEach(() => mock.timers.reset());

  test("leads over the provider's prompt to where one wanted to go, without a consent page", async () => {
    const { page } = await signIn(world);
    assert.equal(page.status, 200);
    assert.deepEqual(JSON.parse(page.text).name, "ada");
    assert.equal(JSON.parse(page.text).role, "admin");
    assert.equal(JSON.parse(page.text).has_password, true);
  });

  test("its cookie can't be read by scripts and is sent along from other sites' links only", async () => {
    const { browser } = await signIn(world);
    const line = browser.setCookies.find((each) => each.startsWith("tailrace_session="));
    assert.match(line ?? "", /^tailrace_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test("never leads to another site", async () => {
    for (const evil of [
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "/\t/evil.example",
      "/.//evil.example",
      "/x/..//evil.example",
      "/%2e//evil.example",
      "/..//evil.example",
      "/.\\/evil.example",
    ]) {
      const { page } = await signIn(world, evil);
      assert.equal(new URL(page.url).origin, world.origin, evil);
      assert.ok(page.location === null || new URL(page.location).origin === world.origin, evil);
    }
  });

  test("an answer that another browser began is refused (login CSRF)", async () => {
    const attacker = new Browser();
    const form = await attacker.follow(await attacker.get(`${world.origin}/api/auth/login`), world.origin);
    const resumed = await attacker.submit(form, "/sign-in", PERSON);
    const callback = (await attacker.get(resumed.location ?? "")).location ?? "";
    assert.match(callback, /\/api\/auth\/callback\?code=/);
    const victim = new Browser();
    const page = await victim.get(callback);
    assert.equal(page.status, 400);
    assert.equal(victim.cookie("tailrace_session"), undefined);
    assert.equal(
      (await attacker.get(callback)).status,
      303,
      "and is still that of the browser that began it",
    );
  });

  test("an authorization whose sign-in has ended opens no session in that browser, whoever signs in with it", async () => {
    const own = await World.start();
    const other = await World.start({
      bucket: own.bucket,
      dataPath: own.dataPath,
      publicUrl: own.origin,
    });
    try {
      await own.addPerson();
      const mallory = { name: "mallory", password: "a long password" };
      await own.auth.accounts.add({ ...mallory, role: "viewer" }, "test");
      const login = `${own.origin}/api/auth/login?return_to=/api/auth/me`;
      const victim = new Browser();
      const leaked = (await victim.get(login)).location!;
      const form = await victim.follow(await victim.get(leaked), own.origin);
      await victim.follow(await victim.submit(form, "/sign-in", PERSON), own.origin);
      const attacker = new Browser();
      const page = await attacker.follow(await attacker.get(leaked), own.origin);
      const resumed = await attacker.submit(page, "/sign-in", mallory);
      const { pathname, search } = new URL((await attacker.get(resumed.location!)).location!);
      assert.match(search, /code=/);
      const cookie = `tailrace_sign_in=${victim.cookie("tailrace_sign_in")}`;
      const query = new URLSearchParams(search);
      const state = query.get("state")!;
      const [version, id, iv = "", text = "", tag] = state.split(".");
      const written = [
        state,
        `${state}.x`,
        `${state}.`,
        `${state}=`,
        [version, id, `${iv}!`, text, tag].join("."),
      ];
      for (const { app } of [other, own])
        for (const each of written) {
          query.set("state", each);
          const url = `${pathname}?${query.toString()}`;
          assert.equal((await app.inject({ url, headers: { cookie } })).statusCode, 400, each);
        }
    } finally {
      await other.stop();
      await own.stop();
    }
  });

  test("two tabs may sign in at the same time", async () => {
    const browser = new Browser();
    const login = `${world.origin}/api/auth/login?return_to=/api/auth/me`;
    const [first, second] = [await browser.get(login), await browser.get(login)];
    const form = await browser.follow(first, world.origin);
    assert.equal(
      (await browser.follow(await browser.submit(form, "/sign-in", PERSON), world.origin)).status,
      200,
    );
    assert.equal((await browser.follow(second, world.origin)).status, 200);
  });

  test("a planted session id is worth nothing, and each sign-in gives a new one", async () => {
    const browser = new Browser();
    browser.setCookie("tailrace_session", "planted");
    await signIn(world, "/", browser);
    const first = browser.cookie("tailrace_session");
    assert.notEqual(first, "planted");
    await browser.follow(await browser.get(`${world.origin}/api/auth/login`), world.origin);
    assert.notEqual(browser.cookie("tailrace_session"), first);
    const old = new Browser();
    old.setCookie("tailrace_session", first ?? "");
    assert.equal((await me(world, old)).status, 401, "the session before is over");
  });

  test("a callback that comes several times at once, at two hubs, opens one session", async () => {
    const own = await World.start();
    const { bucket, dataPath, origin } = own;
    const other = await World.start({ bucket, dataPath, publicUrl: origin });
    try {
      await own.addPerson();
      const browser = new Browser();
      const login = `${origin}/api/auth/login?return_to=/here`;
      const form = await browser.follow(await browser.get(login), origin);
      const resumed = await browser.submit(form, "/sign-in", PERSON);
      const callback = (await browser.get(resumed.location!)).location!;
      const cookie = `tailrace_sign_in=${browser.cookie("tailrace_sign_in")}`;
      const { pathname, search } = new URL(callback);
      const come = async ({ app }: World): Promise<number> =>
        (await app.inject({ url: pathname + search, headers: { cookie } })).statusCode;
      // Two uses have read the code before either deletes it.
      const both = Promise.withResolvers<void>();
      const remove = bucket.delete.bind(bucket);
      let uses = 0;
      bucket.delete = async (key, revision) => {
        if (key.startsWith("oauth.AuthorizationCode.")) {
          if (++uses === 2) both.resolve();
          await both.promise;
        }
        return remove(key, revision);
      };
      const statuses = await Promise.all([own, other, own, other, own, other].map(come));
      assert.deepEqual(
        statuses.sort((a, b) => a - b),
        [303, 403, 403, 403, 403, 403],
      );
      const replayed = [...own.audit, ...other.audit].filter(({ action }) => action === "code_replayed");
      assert.ok(replayed.length > 0);
      assert.equal(new Set(replayed.map(({ subject }) => subject)).size, 1);
      assert.equal(await come(other), 403);
      const { id } = (await own.auth.accounts.find(PERSON.name))!;
      assert.equal((await own.auth.sessions.list(id)).length, 1);
    } finally {
      await other.stop();
      await own.stop();
    }
  });

  for (const [what, isRevoked, expected] of [
    ["whose grant is stored apart, as hubs of before do, opens one session", false, [303, 403, 403]],
    ["whose grant was stored apart and is revoked opens no session", true, [403, 403, 403]],
  ] as const)
    test(`a code ${what}`, async () => {
      const own = await World.start({ bucket: new MemoryBucket() });
      const { bucket, dataPath, origin } = own;
      const other = await World.start({ bucket, dataPath, publicUrl: origin });
      try {
        await own.addPerson();
        const browser = new Browser();
        const form = await browser.follow(await browser.get(`${origin}/api/auth/login`), origin);
        const resumed = await browser.submit(form, "/sign-in", PERSON);
        const { pathname, search } = new URL((await browser.get(resumed.location!)).location!);
        const [key = ""] = await bucket.keys("oauth.AuthorizationCode.");
        const record = JSON.parse(Buffer.from((await bucket.get(key))!.value).toString());
        const { grant, ...data } = record.data;
        await bucket.put(key, Buffer.from(JSON.stringify({ ...record, data })));
        if (!isRevoked)
          await bucket.put(
            `oauth.Grant.${hashOf(data.grantId)}`,
            Buffer.from(JSON.stringify({ ...record, data: grant })),
          );
        const headers = { cookie: `tailrace_sign_in=${browser.cookie("tailrace_sign_in")}` };
        const come = async (): Promise<number> =>
          (await other.app.inject({ url: pathname + search, headers })).statusCode;
        const statuses = await Promise.all([come(), come(), come()]);
        assert.deepEqual(
          statuses.sort((a, b) => a - b),
          expected,
        );
        assert.deepEqual(await bucket.keys("oauth.Grant."), []);
        assert.equal((await bucket.keys("session.")).length, isRevoked ? 0 : 1);
      } finally {
        await other.stop();
        await own.stop();
      }
    });

  test("the dashboard's sign-in refuses prompt=consent, whose grant would be left in the state", async () => {
    const { browser } = await signIn(world);
    const { location } = await browser.get(`${world.origin}/api/auth/login`);
    const page = await browser.follow(await browser.get(`${location}&prompt=consent`), world.origin);
    assert.equal(page.status, 403);
    assert.match(page.text, /has no prompt/);
    assert.deepEqual(await world.bucket.keys("oauth.Interaction."), []);
  });

  test("a callback that is opened again is refused, and the session it opened goes on", async () => {
    const { browser } = await signIn(world);
    const authorization = (await browser.get(`${world.origin}/api/auth/login`)).location!;
    const callback = (await browser.get(authorization)).location!;
    assert.equal((await browser.get(callback)).status, 303);
    const again = await browser.get(callback);
    assert.equal(again.status, 400);
    assert.doesNotMatch(again.headers.getSetCookie().join(), /tailrace_session/);
    assert.equal((await me(world, browser)).status, 200);
  });

  for (const [what, kind, change] of [
    ["a code that another hub has taken", "oauth.AuthorizationCode.", "delete"],
    ["a code that another hub has changed", "oauth.AuthorizationCode.", "consume"],
  ] as const)
    test(`${what} signs nobody in where it was stored`, async () => {
      const { browser } = await signIn(world);
      const { bucket } = world;
      const before = new Set(await bucket.keys(kind));
      const authorization = (await browser.get(`${world.origin}/api/auth/login`)).location ?? "";
      const callback = (await browser.get(authorization)).location ?? "";
      const [key = ""] = (await bucket.keys(kind)).filter((each) => !before.has(each));
      const entry = await bucket.get(key);
      assert.ok(entry !== null);
      if (change === "delete") await bucket.delete(key);
      else {
        const record = JSON.parse(Buffer.from(entry.value).toString()) as { data: object };
        const consumed = { ...record, data: { ...record.data, consumed: 1 } };
        await bucket.put(key, Buffer.from(JSON.stringify(consumed)));
      }
      const session = browser.cookie("tailrace_session");
      const page = await browser.get(callback);
      assert.ok(page.status === 400 || page.status === 403, String(page.status));
      assert.equal(browser.cookie("tailrace_session"), session);
      assert.equal(JSON.parse((await me(world, browser)).text).name, "ada");
    });

  test("no code is answered that could not be stored", async () => {
    const { browser } = await signIn(world);
    const { bucket } = world;
    const put = bucket.put.bind(bucket);
    const failing = mock.method(bucket, "put", (key: string, value: Uint8Array) =>
      key.startsWith("oauth.AuthorizationCode.")
        ? Promise.reject(new AppError("unavailable", "the log is not reachable"))
        : put(key, value),
    );
    const page = await browser.follow(await browser.get(`${world.origin}/api/auth/login`), world.origin);
    failing.mock.restore();
    assert.equal(page.status, 503);
    assert.doesNotMatch(page.location ?? "", /code=/);
  });

  test("a sign-in leaves no code, no grant and no access token in the state", async () => {
    const kept = await Promise.all(
      ["oauth.AuthorizationCode.", "oauth.Grant."].map((kind) => world.bucket.keys(kind)),
    );
    await signIn(world);
    const now = await Promise.all(
      ["oauth.AuthorizationCode.", "oauth.Grant."].map((kind) => world.bucket.keys(kind)),
    );
    assert.deepEqual(now, kept);
    assert.deepEqual(await world.bucket.keys("oauth.AccessToken."), []);
    assert.deepEqual(await world.bucket.keys("oauth-grant-of."), []);
    assert.deepEqual(await world.bucket.keys("oauth-family."), []);
  });

  test("requests that can't go on are explained in the reader's language", async () => {
    const rows: readonly (readonly [path: string, text: RegExp])[] = [
      [
        "/o/oauth2/v2/auth?client_id=nobody",
        /lang="de"[\s\S]*Diese Anfrage kann nicht fortfahren[\s\S]*Fehler/,
      ],
      ["/o/oauth2/v2/prompt/gone", /lang="de"[\s\S]*Sie war zu lange offen, oder ihre Adresse/],
    ];
    for (const [path, text] of rows) {
      const answer = await new Browser().get(`${world.origin}${path}`, { "accept-language": "de" });
      assert.equal(answer.status, 400);
      assert.match(answer.text, text);
    }
  });

  test("one network begins at most 300 sign-ins a minute, none of which is stored", async () => {
    const own = await World.start();
    mock.timers.enable({ apis: ["Date"], now: Date.now() });
    try {
      const begin = (language: string) =>
        new Browser().get(`${own.origin}/api/auth/login`, { "accept-language": language });
      const answers = await Promise.all(Array.from({ length: 300 }, () => begin("en")));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [303]);
      const refused = await begin("de");
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get("retry-after"), "60");
      assert.match(refused.text, /lang="de"[\s\S]*Zu viele Anfragen/);
      assert.deepEqual(await own.bucket.keys("sign-in-flow."), []);
    } finally {
      await own.stop();
    }
  });

  test("one network ends at most 300 sign-ins a minute, also with a state that is valid", async () => {
    const own = await World.start({ bucket: new MemoryBucket() });
    mock.timers.enable({ apis: ["Date"], now: Date.now() });
    try {
      const browser = new Browser();
      const { location } = await browser.get(`${own.origin}/api/auth/login`);
      const query = new URLSearchParams({ code: "x", iss: own.origin });
      query.set("state", new URL(location!).searchParams.get("state")!);
      const headers = { cookie: `tailrace_sign_in=${browser.cookie("tailrace_sign_in")}` };
      const end = async (): Promise<number> =>
        (await own.app.inject({ url: `/api/auth/callback?${query.toString()}`, headers })).statusCode;
      const statuses = await Promise.all(Array.from({ length: 300 }, end));
      assert.deepEqual([...new Set(statuses)], [403]);
      assert.equal(await end(), 429);
    } finally {
      await own.stop();
    }
  });

  test("by another name of the host one is sent to the public address first", async () => {
    const page = await new Browser().get(
      `${world.origin.replace("127.0.0.1", "localhost")}/api/auth/login?return_to=/x`,
    );
    assert.equal(page.location, `${world.origin}/api/auth/login?return_to=/x`);
  });

  test("failures are shown on a page and recorded in the audit log", async () => {
    const page = await new Browser().get(
      `${world.origin}/api/auth/callback?error=access_denied&state=unknown`,
    );
    assert.equal(page.status, 400);
    assert.match(page.text, /You aren&#39;t signed in/);
    assert.ok(world.audit.some(({ action, outcome }) => action === "sign_in" && outcome === "refused"));
  });
});

test("wrong current passwords are limited like a sign-in", async () => {
  const world = await World.start();
  try {
    await world.addPerson();
    // The wait after the fifth failure is a second, which must not pass during the test.
    mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      const answer = await fetch(`${world.origin}/api/auth/password`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${PERSON.name}:${PERSON.password}`).toString("base64")}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ current: `wrong password ${attempt}`, password: "another long password" }),
      });
      statuses.push(answer.status);
      if (answer.status === 429) assert.equal(answer.headers.get("retry-after"), "1");
    }
    assert.deepEqual(statuses, [403, 403, 403, 403, 403, 429, 429, 429, 429, 429]);
  } finally {
    mock.timers.reset();
    await world.stop();
  }
});

for (const [what, grants, warnings] of [
  ["an administrator", ["*"], 0],
  ["only one that reaches some indices", ["logs-*"], 1],
] as const)
  test(`a hub with ${what} starts with ${warnings} warnings of it`, async () => {
    const world = await World.start();
    try {
      await world.auth.accounts.add({ ...PERSON, role: "admin", indices: grants }, "test");
      const { bucket } = world;
      const again = await World.start({ bucket, dataPath: world.dataPath });
      await again.stop();
      const said = again.logs.filter((line) => line.includes("no account may administer"));
      assert.equal(said.length, warnings);
      assert.ok(said.every((line) => line.includes("tailrace-hub user add NAME --role admin")));
    } finally {
      await world.stop();
    }
  });

suite("over https", () => {
  test("cookies are bound to the host and to https", async () => {
    const publicUrl = "https://logs.example.com";
    const world = await World.start({ publicUrl, settings: { "public.url": publicUrl } });
    try {
      const answer = await world.app.inject({
        url: "/api/auth/login",
        headers: { host: "logs.example.com" },
      });
      assert.match(String(answer.headers["set-cookie"]), /^__Host-tailrace_sign_in=.*; Path=\/; .*; Secure$/);
      const target = String(answer.headers["location"]);
      assert.ok(target.startsWith(`${publicUrl}/o/oauth2/v2/auth?`));
      const prompt = await world.app.inject({
        url: new URL(target).pathname + new URL(target).search,
        headers: { host: "logs.example.com" },
      });
      const cookies = [prompt.headers["set-cookie"]].flat().map(String);
      assert.ok(cookies.length > 0);
      for (const line of cookies) assert.match(line, /^__Secure-.*; secure/i);
      assert.ok(String(prompt.headers["location"]).startsWith("/o/oauth2/v2/prompt/"));
    } finally {
      await world.stop();
    }
  });
});

test("without authentication every sender is the administrator, and login redirects to the home page", async () => {
  const world = await World.start({ settings: { "auth.mode": "off" } });
  try {
    const answer = await fetch(`${world.origin}/api/auth/me`);
    assert.equal(((await answer.json()) as { kind: string }).kind, "anonymous");
    const login = await new Browser().get(`${world.origin}/api/auth/login`);
    assert.equal(login.location, `${world.origin}/`);
  } finally {
    await world.stop();
  }
});
