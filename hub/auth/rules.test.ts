import assert from "node:assert/strict";
import crypto from "node:crypto";
import { suite, test } from "node:test";
import { Accounts } from "#hub/auth/accounts/accounts.ts";
import { checkGrants, mayReach } from "#hub/auth/accounts/index-rights.ts";
import { PasswordSignIn } from "#hub/auth/accounts/password-sign-in.ts";
import { Passwords } from "#hub/auth/accounts/passwords.ts";
import { actionsOf, authorize, mayDo, type Principal, type Role } from "#hub/auth/accounts/principal.ts";
import { networkOf, RateLimit, Throttle } from "#hub/auth/accounts/throttle.ts";
import { Cookies } from "#hub/auth/web/cookies.ts";
import { html } from "#hub/auth/web/page.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { settingsWith } from "#test/conformance/oauth/settings.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { checkAuthSettings, checkListeners } from "./settings.ts";

function principal(role: Role, indices: string[]): Principal {
  return { kind: "user", id: "1", name: "ada", role, actions: actionsOf(role, indices), indices };
}

function handClock(): Clock & { ms: number } {
  return {
    ms: 0,
    now() {
      return this.ms;
    },
    monotonic() {
      return this.ms;
    },
    sleep: () => Promise.resolve(),
  };
}

suite("roles", () => {
  const rows: [Role, string, boolean][] = [
    ["admin", "administer", true],
    ["editor", "administer", false],
    ["editor", "save", true],
    ["editor", "index_delete", false],
    ["viewer", "search", true],
    ["viewer", "save", false],
    ["viewer", "ingest", false],
    ["ingest", "ingest", true],
    ["ingest", "search", false],
  ];
  for (const [role, action, allowed] of rows) {
    test(`${role} ${allowed ? "may" : "may not"} ${action}`, () => {
      const attempt = () => authorize(principal(role, ["*"]), action as "search");
      if (allowed) attempt();
      else assert.throws(attempt, { code: "forbidden" });
    });
  }

  test("administer with the grant on all indices alone, which a refusal names", () => {
    assert.throws(() => authorize(principal("admin", ["logs-*"]), "administer"), {
      code: "forbidden",
      message: /needs the grant \* on all indices, not only logs-\*.*tailrace-hub user add NAME --role admin/,
    });
    assert.throws(() => authorize(principal("editor", ["logs-*"]), "administer"), {
      message: /lacks the right "administer"; ask an administrator for another role/,
    });
  });

  test("reach the indices of their patterns only", () => {
    const viewer = principal("viewer", ["logs-*", "audit"]);
    authorize(viewer, "search", "logs-2026");
    authorize(viewer, "search", "audit");
    assert.throws(() => authorize(viewer, "search", "secrets"), {
      code: "forbidden",
      message: /secrets.*logs-\*/,
    });
    assert.throws(() => authorize(viewer, "search", "audit-2"), { code: "forbidden" });
    authorize(viewer, "monitor", "secrets");
  });

  test("a grant gives all rights of the role, or those that it names", () => {
    const grants = ["logs-*:read", "logs-web-*:write", "own-*"];
    const rows: [string, Parameters<typeof mayReach>[2], boolean][] = [
      ["logs-1", ["search"], true],
      ["logs-1", ["ingest"], false],
      ["logs-1", [], true],
      ["logs-web-1", ["search", "ingest"], true],
      ["logs-web-1", ["index_manage"], false],
      ["own-1", ["search", "ingest", "index_manage", "index_delete"], true],
      ["other", [], false],
    ];
    for (const [index, actions, allowed] of rows)
      assert.equal(mayReach(grants, index, actions), allowed, `${index} ${actions?.join(" ")}`);
    assert.ok(!mayReach(["logs-*:", "logs-*:__proto__", "logs-*:toString"], "logs-1", ["search"]));
    const writer = principal("editor", ["logs-*:write", "own-*"]);
    assert.ok(mayDo(writer, "ingest") && mayDo(writer, "alert"));
    assert.ok(!mayDo(writer, "search"), "not on each index of its grants");
  });

  test("a grant that gives nothing is refused by name", () => {
    checkGrants(["*", "logs-*:read", "logs-*:read+write+manage+delete"]);
    for (const grant of ["logs-*:", "logs-*:raed", ":read", "", "logs-*:read+", "logs-*:read,write"])
      assert.throws(
        () => checkGrants([grant]),
        { code: "request_invalid", message: /write a pattern/ },
        grant,
      );
  });
});

suite("settings", () => {
  const listener = { setting: "http.host", host: "0.0.0.0", encrypted: false };

  test("a listener beyond loopback needs authentication and TLS, and the message names the settings", () => {
    const off = settingsWith({ "auth.mode": "off" });
    assert.throws(() => checkListeners(off, [listener]), {
      code: "settings_invalid",
      message: /http.host.*auth.mode: required/,
    });
    const required = settingsWith({});
    assert.throws(() => checkListeners(required, [listener]), { message: /tls.certificate/ });
    checkListeners(required, [{ ...listener, encrypted: true }]);
    checkListeners(off, [{ ...listener, host: "127.0.0.1" }]);
  });

  test("contradictions are named", () => {
    const rows: [Parameters<typeof settingsWith>[0], RegExp][] = [
      [{ "public.url": "https://x.example/path" }, /public.url/],
      [{ "public.url": "x.example" }, /public.url/],
      [{ "public.url": "http://x.example" }, /in the clear/],
      [{ "auth.provider.enabled": false }, /there is no way to sign in/],
      [{ "auth.upstream.issuer": "https://x.example" }, /client_id/],
      [{ "auth.provider.scopes": ["two words"] }, /resource URL/],
    ];
    for (const [change, message] of rows) {
      assert.throws(() => checkAuthSettings(settingsWith(change)), { code: "settings_invalid", message });
    }
    checkAuthSettings(settingsWith({ "public.url": "https://logs.example.com:8443" }));
  });
});

suite("brakes", () => {
  test("waits double with each failure up to the cap, and a success forgets them", () => {
    const clock = handClock();
    const throttle = new Throttle(clock, { free: 1, firstMs: 1_000, capMs: 4_000 });
    const waits: number[] = [];
    for (let i = 0; i < 5; i++) {
      throttle.failed("x");
      let waitMs = 0;
      while (isBlocked(() => throttle.check("x"))) {
        clock.ms += 500;
        waitMs += 500;
      }
      waits.push(waitMs);
    }
    assert.deepEqual(waits, [0, 1_000, 2_000, 4_000, 4_000]);
    throttle.failed("x");
    throttle.succeeded("x");
    throttle.check("x");
    throttle.check("y");
  });

  test("a password that couldn't be checked isn't a failure: a flood of others' sign-ins makes nobody wait", async () => {
    let isFlooded = true;
    const busy = new AppError("overloaded", "too many sign-ins at once");
    const accounts = { verify: () => (isFlooded ? Promise.reject(busy) : Promise.resolve(null)) };
    const noAudit = (): void => undefined;
    const signIn = new PasswordSignIn(
      accounts as unknown as Accounts,
      handClock(),
      noAudit,
      new Uint8Array(32),
    );
    for (let attempt = 0; attempt < 100; attempt++)
      await assert.rejects(signIn.verify("ada", "right", "10.0.0.1"), {
        message: "too many sign-ins at once",
      });
    isFlooded = false;
    for (let attempt = 0; attempt < 5; attempt++)
      assert.equal(await signIn.verify("ada", "wrong", "10.0.0.1"), null);
    await assert.rejects(signIn.verify("ada", "right", "10.0.0.1"), { message: /failed attempts.* 1 s/ });
  });

  test("a rate limit opens again with the next window", () => {
    const clock = handClock();
    const limit = new RateLimit(clock, 2);
    limit.count("x");
    limit.check("x");
    limit.count("x");
    assert.ok(isBlocked(() => limit.check("x")));
    limit.check("y");
    limit.forgive("x");
    limit.check("x");
    limit.count("x");
    clock.ms += 60_000;
    limit.check("x");
    const said = Array.from({ length: 3 }, () => new RateLimit(clock, 1)).map((each) => [
      each.allows("a"),
      each.allows("a"),
    ]);
    assert.deepEqual(said, [
      [true, false],
      [true, false],
      [true, false],
    ]);
  });

  test("one person's IPv6 addresses count as one network", () => {
    assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), networkOf("2001:db8:1:2::9"));
    assert.notEqual(networkOf("2001:db8:1:2::1"), networkOf("2001:db8:1:3::1"));
    assert.equal(networkOf("::ffff:10.0.0.1"), "10.0.0.1");
    assert.equal(networkOf("::1"), "0:0:0:0::/64");
  });
});

suite("texts", () => {
  test("values inserted into a page are escaped", () => {
    assert.equal(
      html`<p title="${`"'<&>`}">${[html`<b>${"<"}</b>`]}</p>`.text,
      '<p title="&quot;&#39;&lt;&amp;&gt;"><b>&lt;</b></p>',
    );
  });

  test("a cookie is found among others, by its whole name", () => {
    const cookies = new Cookies("http://127.0.0.1");
    assert.equal(cookies.read("a=1; tailrace=2; xtailrace=3", "tailrace"), "2");
    assert.equal(cookies.read("xtailrace=3", "tailrace"), undefined);
    assert.equal(cookies.read(undefined, "tailrace"), undefined);
    assert.equal(
      new Cookies("https://x.example").read("tailrace=1", "tailrace"),
      undefined,
      "only __Host- counts over https",
    );
  });
});

suite("passwords", () => {
  const passwords = new Passwords({ N: 1024, r: 8, p: 1 });

  test("are hashed with a salt and checked by the hash's own cost", async () => {
    const hash = await passwords.hash("a long password");
    assert.notEqual(await passwords.hash("a long password"), hash);
    const costlier = new Passwords({ N: 2048, r: 8, p: 1 });
    assert.equal(await costlier.verify("a long password", hash), true);
    assert.equal(await costlier.verify("another password", hash), false);
    assert.equal(await costlier.verify("a long password", undefined), false);
  });

  test("of today are hashed with Argon2id, as RFC 9106 defines it", async () => {
    const today = new Passwords();
    const hash = await today.hash("a long password");
    assert.match(hash, /^argon2id\$19456\$2\$/);
    assert.equal(await today.verify("a long password", hash), true);
    assert.equal(await today.verify("another password", hash), false);
    // By the reference implementation: argon2 somesaltsomesalt -id -t 2 -k 19456 -p 1 -l 32
    const known = "argon2id$19456$2$c29tZXNhbHRzb21lc2FsdA$RGhF7DoikgNzggrWdyMuC69raFXO8x7QQMHIeQRUW1M";
    assert.equal(await today.verify("a long password", known), true);
  });

  test("of an older kind are hashed anew for who knows them", async () => {
    const hash = await passwords.hash("a long password");
    assert.equal(await passwords.renewed("a long password", hash), undefined);
    const today = new Passwords({ memoryKib: 64, passes: 1 });
    const renewed = await today.renewed("a long password", hash);
    assert.match(renewed ?? "", /^argon2id\$64\$1\$/);
    assert.equal(await today.verify("a long password", renewed), true);
    assert.equal(await today.renewed("a long password", renewed!), undefined);
  });

  test("of accounts are stored anew at the next sign-in, and sessions go on", async () => {
    const store = { bucket: new MemoryBucket(), clock: systemClock };
    await new Accounts(store, passwords, () => undefined).add(
      { name: "ada", password: "a long password", role: "admin" },
      "test",
    );
    const accounts = new Accounts(store, new Passwords({ memoryKib: 64, passes: 1 }), () => undefined);
    assert.equal(await accounts.verify("ada", "another password"), null);
    assert.match((await accounts.find("ada"))?.account.passwordHash ?? "", /^scrypt/);
    const before = await accounts.verify("ada", "a long password");
    const after = await accounts.verify("ada", "a long password");
    assert.match(after?.account.passwordHash ?? "", /^argon2id/);
    assert.equal(after?.account.epoch, before?.account.epoch);
  });

  test("of accounts are accepted even if their new hash can't be stored", async () => {
    const bucket = new MemoryBucket();
    const store = { bucket, clock: systemClock };
    const account = { name: "ada", password: "a long password", role: "admin" } as const;
    await new Accounts(store, passwords, () => undefined).add(account, "test");
    bucket.update = () => Promise.reject(new AppError("unavailable", "the log is full"));
    const today = new Passwords({ memoryKib: 64, passes: 1 });
    const accounts = new Accounts(store, today, () => undefined);
    assert.equal((await accounts.verify("ada", account.password))?.account.name, "ada");
    today.renewed = () => Promise.reject(new AppError("overloaded", "too many sign-ins"));
    assert.equal((await accounts.verify("ada", account.password))?.account.name, "ada");
  });

  test("are hashed with scrypt by a Node whose OpenSSL has no Argon2id", async (t) => {
    t.mock.method(crypto, "argon2Sync", () => {
      throw new Error("Argon2 algorithm not supported");
    });
    const path = new URL("./accounts/passwords.ts?without-argon2", import.meta.url).href;
    const without = (await import(path)) as { readonly Passwords: typeof Passwords };
    const old = new without.Passwords();
    assert.match(await old.hash("a long password"), /^scrypt\$131072\$8\$1\$/);
    await assert.rejects(old.verify("a long password", "argon2id$64$1$c2FsdA$a2V5"), { code: "unavailable" });
  });

  test("that are too short or long are refused", async () => {
    for (const password of ["", "short", "x".repeat(257)]) {
      await assert.rejects(passwords.hash(password), { code: "request_invalid" });
    }
  });

  test("that come by the hundred wait in a bounded queue", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, () => passwords.verify("x", undefined)),
    );
    const refused = results.filter(({ status }) => status === "rejected");
    assert.equal(refused.length, 100 - 2 - 64);
    assert.equal(await passwords.verify("x", undefined), false);
  });
});

function isBlocked(check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "overloaded");
    return true;
  }
}
