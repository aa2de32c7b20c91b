import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { AuditEvent } from "#hub/auth/audit/audit.ts";
import type { Store } from "#hub/auth/state/records.ts";
import { Vault } from "#hub/auth/state/vault.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { SampleProvider } from "#test/conformance/oauth/sample-provider.ts";
import { SlowBucket } from "#test/conformance/oauth/slow-bucket.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Connections } from "./connections.ts";
import type { Fetch } from "./endpoints.ts";

const BINDING = "browser-secret";

/** A clock that moves by calls, or when a caller sleeps. */
class HandClock implements Clock {
  ms = 1_700_000_000_000;
  now(): number {
    return this.ms;
  }
  monotonic(): number {
    return this.ms;
  }
  async sleep(ms: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.ms += ms;
  }
}

suite("connected accounts", () => {
  let provider: SampleProvider;
  let clock: HandClock;
  let store: Store;
  let audit: AuditEvent[];
  let connections: Connections;

  beforeEach(async () => {
    provider = new SampleProvider();
    await provider.start();
    clock = new HandClock();
    store = { bucket: new SlowBucket(new MemoryBucket()), clock };
    audit = [];
    connections = hub();
  });
  afterEach(async () => {
    await connections.stop();
    await provider.stop();
  });

  /** Another process on the same state. */
  function hub(ask: Fetch = (url, init) => fetch(url, init)): Connections {
    return new Connections({
      store,
      vault: new Vault([{ id: "k1", secret: Buffer.alloc(32, 1) }]),
      clock,
      log: silentLogger(),
      audit: (event) => audit.push(event),
      publicUrl: () => "http://localhost:5601",
      refreshes: new Metrics().counter("tailrace_auth_token_refreshes_total", "Refreshes.", ["outcome"]),
      fetch: ask,
    });
  }

  function definition(more: object = {}): object {
    return {
      name: "Sample",
      auth_url: provider.origin,
      token_url: provider.origin,
      revocation_endpoint: `${provider.origin}/revoke`,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      scope: "https://api.example.com/auth/read",
      api_hosts: [new URL(provider.origin).host],
      ...more,
    };
  }

  async function callback(providerId: string, id?: string): Promise<URLSearchParams> {
    const wanted = { providerId, name: "ada@sample", ...(id === undefined ? {} : { id }) };
    const url = await connections.connect(wanted, BINDING, "ada");
    const answer = await fetch(url, { redirect: "manual" });
    return new URL(answer.headers.get("location") ?? "").searchParams;
  }

  /** Connects an account and returns its id. */
  async function connect(more: object = {}): Promise<string> {
    const providerId = await connections.providers.add(definition(more), "ada");
    return (await connections.finish(await callback(providerId), BINDING)).id;
  }

  async function code(promise: Promise<unknown>): Promise<string> {
    const error = await promise.then(
      () => assert.fail("nothing was thrown"),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof AppError, String(error));
    return error.code;
  }

  for (const credentials_in of ["body", "query", "basic"] as const) {
    test(`the code is exchanged with credentials in the ${credentials_in}, with PKCE`, async () => {
      const id = await connect({ credentials_in });
      const [seen] = provider.requests("authorization_code");
      assert.equal(seen?.query.has("client_secret"), credentials_in === "query");
      assert.equal(seen?.form.has("client_secret"), credentials_in === "body");
      assert.equal(seen?.authorization !== undefined, credentials_in === "basic");
      assert.ok((seen?.form.get("code_verifier") ?? seen?.query.get("code_verifier") ?? "").length >= 43);
      assert.equal((await connections.call(id, { url: `${provider.origin}/api/data` })).status, 200);
    });
  }

  for (const answerAs of ["form", "bare"] as const) {
    test(`a provider whose answers are ${answerAs} is understood`, async () => {
      provider.answerAs = answerAs;
      const id = await connect();
      provider.forgetAccessTokens();
      assert.equal((await connections.call(id, { url: `${provider.origin}/api/data` })).status, 200);
    });
  }

  test("extra parameters of the authorization request are sent, the flow's own can't be replaced", async () => {
    const providerId = await connections.providers.add(
      definition({ authorization_parameters: { access_type: "offline" } }),
      "ada",
    );
    await callback(providerId);
    assert.equal(provider.seen[0]?.query.get("access_type"), "offline");
    const wrong = definition({ authorization_parameters: { state: "mine" } });
    assert.equal(await code(connections.providers.add(wrong, "ada")), "request_invalid");
  });

  test("a callback without state, with a foreign one, in another browser or twice is refused", async () => {
    const providerId = await connections.providers.add(definition(), "ada");
    const good = await callback(providerId);
    for (const state of [null, "forged"]) {
      const forged = new URLSearchParams(good);
      if (state === null) forged.delete("state");
      else forged.set("state", state);
      assert.equal(await code(connections.finish(forged, BINDING)), "request_invalid");
    }
    await connections.finish(good, BINDING);
    assert.equal(await code(connections.finish(good, BINDING)), "request_invalid");
    assert.equal(
      await code(connections.finish(await callback(providerId), "other browser")),
      "request_invalid",
    );
    assert.equal(await code(connections.finish(await callback(providerId), undefined)), "request_invalid");
  });

  test("an answer with another issuer is refused (mix-up)", async () => {
    const providerId = await connections.providers.add(definition(), "ada");
    provider.iss = "https://evil.example";
    assert.equal(await code(connections.finish(await callback(providerId), BINDING)), "request_invalid");
    provider.iss = provider.origin;
    await connections.finish(await callback(providerId), BINDING);
  });

  test("an account is connected again at its own provider only, and under an id that it has", async () => {
    const id = await connect();
    const other = await connections.providers.add(definition({ name: "Other" }), "ada");
    for (const wrong of [id, "of-nobody"])
      assert.equal(
        await code(connections.connect({ providerId: other, name: "ada", id: wrong }, BINDING, "eve")),
        "not_found",
      );
  });

  for (const [what, metadata, found] of [
    [
      "a token endpoint on the hub's machine",
      { token_endpoint: "http://127.0.0.1:9200/_bulk" },
      "settings_invalid",
    ],
    ["a token endpoint without TLS", { token_endpoint: "http://login.example/token" }, "settings_invalid"],
    ["a script for the browser", { authorization_endpoint: "javascript:alert(1)//" }, "settings_invalid"],
    ["a list as an endpoint", { authorization_endpoint: ["https://login.example/auth"] }, "settings_invalid"],
    ["a mebibyte", { padding: "x".repeat(1_048_576) }, "unavailable"],
  ] as const)
    test(`a provider whose metadata have ${what} is refused`, async () => {
      const issuer = "https://login.example";
      const body = {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        ...metadata,
      };
      const hostile = hub(() => Promise.resolve(Response.json(body)));
      const { auth_url: _, token_url: __, ...rest } = definition({ issuer }) as Record<string, unknown>;
      const providerId = await hostile.providers.add(rest, "ada");
      assert.equal(await code(hostile.connect({ providerId, name: "ada" }, BINDING, "ada")), found);
      await hostile.stop();
    });

  test("a person's refusal at the provider is reported", async () => {
    const providerId = await connections.providers.add(definition(), "ada");
    const answer = await callback(providerId);
    answer.delete("code");
    answer.set("error", "access_denied");
    assert.equal(await code(connections.finish(answer, BINDING)), "forbidden");
  });

  test("fifty callers in two processes share one refresh and get the same token", async () => {
    provider.rotates = true;
    const id = await connect();
    clock.ms += 3_590_000;
    const other = hub();
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? connections : other).accessToken(id)),
    );
    assert.equal(new Set(tokens).size, 1);
    assert.equal(provider.requests("refresh_token").length, 1);
    await other.stop();
  });

  test("a pipeline gets a token by the connection's name for the provider's hosts only, and a new one after a refusal", async () => {
    const id = await connect();
    const { host } = new URL(provider.origin);
    const token = await connections.bearer("ada@sample", host);
    assert.equal(token, await connections.accessToken(id));
    assert.notEqual(await connections.bearer("ada@sample", host, token), token);
    for (const other of ["evil.example", `${host}0`, `x.${host}`])
      assert.equal(await code(connections.bearer("ada@sample", other)), "forbidden", other);
    assert.equal(await code(connections.bearer("nobody", host)), "not_found");
    await connect();
    assert.equal(await code(connections.bearer("ada@sample", host)), "not_found", "a name that two have");
  });

  test("a fresh token is used unchanged, one near its expiry is refreshed first", async () => {
    const id = await connect();
    const first = await connections.accessToken(id);
    clock.ms += 3_500_000;
    assert.equal(await connections.accessToken(id), first);
    clock.ms += 50_000;
    assert.notEqual(await connections.accessToken(id), first);
  });

  test("a refresh token that isn't replaced is kept", async () => {
    const id = await connect();
    for (let i = 0; i < 3; i++) {
      clock.ms += 3_600_000;
      await connections.accessToken(id);
    }
    assert.equal(provider.requests("refresh_token").length, 3);
  });

  test("without expires_in the token is used until the API refuses it", async () => {
    provider.expiresIn = null;
    const id = await connect();
    clock.ms += 86_400_000;
    assert.equal((await connections.call(id, { url: `${provider.origin}/api/data` })).status, 200);
    assert.equal(provider.requests("refresh_token").length, 0);
  });

  test("a 401 is repeated once with a new token, not more often", async () => {
    const id = await connect();
    provider.forgetAccessTokens();
    assert.equal((await connections.call(id, { url: `${provider.origin}/api/data` })).status, 200);
    assert.equal(provider.requests("refresh_token").length, 1);
    const missing = await connections.call(id, { url: `${provider.origin}/api/redirect` });
    assert.equal(missing.status, 200);
  });

  test("fifty callers with a refused token share one refresh", async () => {
    const id = await connect();
    provider.forgetAccessTokens();
    const url = `${provider.origin}/api/data`;
    const answers = await Promise.all(Array.from({ length: 50 }, () => connections.call(id, { url })));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(provider.requests("refresh_token").length, 1);
  });

  test("a busy provider is retried; Retry-After is honoured", async () => {
    const id = await connect();
    clock.ms += 3_600_000;
    provider.mishaps.push(
      { kind: "status", status: 503 },
      { kind: "status", status: 429, headers: { "retry-after": "7" } },
    );
    const before = clock.ms;
    await connections.accessToken(id);
    assert.ok(clock.ms - before >= 7_000);
  });

  test("while the provider is down, a valid token is used", async () => {
    const id = await connect();
    const first = await connections.accessToken(id);
    clock.ms += 3_545_000;
    for (let i = 0; i < 9; i++) provider.mishaps.push({ kind: "status", status: 503 });
    assert.equal(await connections.accessToken(id), first);
    clock.ms += 60_000;
    assert.equal(await code(connections.accessToken(id)), "unavailable");
    provider.mishaps.length = 0;
    assert.notEqual(await connections.accessToken(id), first);
  });

  test("invalid_grant means reconnect: logged once, not retried, healed by connecting again", async () => {
    const id = await connect();
    const { providerId } = (await connections.list())[0]!;
    provider.forgetRefreshToken();
    clock.ms += 3_600_000;
    assert.equal(await code(connections.accessToken(id)), "forbidden");
    assert.equal(await code(connections.accessToken(id)), "forbidden");
    assert.equal(provider.requests("refresh_token").length, 1);
    const [view] = await connections.list();
    assert.equal(view?.state, "reconnect");
    assert.match(view?.reason ?? "", /invalid_grant/);
    assert.equal(audit.filter(({ action }) => action === "connection_reconnect").length, 1);
    await connections.finish(await callback(providerId, id), BINDING);
    assert.equal((await connections.call(id, { url: `${provider.origin}/api/data` })).status, 200);
  });

  test("invalid_client is the hub's fault: the account stays connected", async () => {
    const id = await connect();
    clock.ms += 3_600_000;
    provider.mishaps.push({ kind: "error", status: 401, error: "invalid_client" });
    assert.equal(await code(connections.accessToken(id)), "settings_invalid");
    assert.equal((await connections.list())[0]?.state, "connected");
    await connections.accessToken(id);
  });

  test("a lost answer to a rotation is survived where the provider has a grace period", async () => {
    provider.rotates = true;
    provider.grace = true;
    const id = await connect();
    clock.ms += 3_600_000;
    provider.mishaps.push({ kind: "lost answer" });
    const token = await connections.accessToken(id);
    assert.equal((await connections.call(id, { url: `${provider.origin}/api/data` })).status, 200);
    assert.ok(token.length > 0);
  });

  test("a lost answer to a rotation at a strict provider is named as the reason to reconnect", async () => {
    provider.rotates = true;
    const id = await connect();
    clock.ms += 3_600_000;
    provider.mishaps.push({ kind: "lost answer" });
    assert.equal(await code(connections.accessToken(id)), "forbidden");
    assert.match((await connections.list())[0]?.reason ?? "", /answer to a refresh was lost/);
  });

  test("a process that dies during a refresh blocks others until its lease ends", async () => {
    const id = await connect();
    clock.ms += 3_600_000;
    const key = `connection.${id}`;
    const entry = await store.bucket.get(key);
    const record = JSON.parse(Buffer.from(entry!.value).toString());
    record.data.lease = { holder: "dead", until: clock.ms + 30_000 };
    await store.bucket.put(key, Buffer.from(JSON.stringify(record)));
    await connections.accessToken(id);
    assert.equal(provider.requests("refresh_token").length, 1);
  });

  test("an account without a refresh token must be reconnected when its token ends", async () => {
    provider.givesRefreshToken = false;
    const id = await connect();
    clock.ms += 3_600_000;
    assert.equal(await code(connections.accessToken(id)), "forbidden");
    assert.match((await connections.list())[0]?.reason ?? "", /no refresh token/);
  });

  test("no token goes to another host, over http to a far one, or along a redirect", async () => {
    const id = await connect();
    for (const url of [
      "https://evil.example/",
      "http://api.example.com/",
      `http://user@${new URL(provider.origin).host}/`,
    ]) {
      assert.equal(await code(connections.call(id, { url })), "forbidden", url);
    }
    const away = `${provider.origin}/api/redirect?to=${encodeURIComponent("https://evil.example/steal")}`;
    assert.equal(await code(connections.call(id, { url: away })), "forbidden");
    const here = `${provider.origin}/api/redirect?to=${encodeURIComponent("/api/data")}`;
    assert.equal((await connections.call(id, { url: here })).status, 200);
  });

  test("a redirect to another allowed host is followed without the token", async () => {
    const far = new SampleProvider();
    await far.start();
    try {
      const id = await connect({ api_hosts: [new URL(provider.origin).host, new URL(far.origin).host] });
      const url = `${provider.origin}/api/redirect?to=${encodeURIComponent(`${far.origin}/api/data`)}`;
      await connections.call(id, { url });
      assert.ok(far.seen.length > 0);
      assert.ok(far.seen.every(({ authorization }) => authorization === undefined));
    } finally {
      await far.stop();
    }
  });

  test("removing an account revokes it at the provider, and works while the provider is down", async () => {
    const id = await connect();
    await connections.remove(id, "ada");
    const revoked = provider.seen.find(({ path }) => path === "/revoke");
    assert.ok(revoked?.form.has("token"));
    assert.equal(await code(connections.accessToken(id)), "not_found");
    const second = await connect({ revocation_endpoint: "http://127.0.0.1:1/revoke" });
    await connections.remove(second, "ada");
    assert.deepEqual(await connections.list(), []);
  });

  test("neither tokens nor the client secret are in the state in plain text", async () => {
    const id = await connect();
    const secrets = [await connections.accessToken(id), provider.clientSecret];
    for (const key of await store.bucket.keys()) {
      const text = Buffer.from((await store.bucket.get(key))!.value).toString();
      for (const secret of secrets) assert.ok(!text.includes(secret), key);
    }
  });

  test("an invalid definition is refused with the field's name", async () => {
    const cases: [object, RegExp][] = [
      [{ auth_url: "http://login.example.com" }, /auth_url: .*https/],
      [{ api_hosts: ["https://api.example.com/x"] }, /api_hosts/],
      [{ api_hosts: [] }, /api_hosts/],
      [{ auth_url: undefined }, /issuer/],
      [{ colour: "blue" }, /provider|colour/],
    ];
    for (const [change, message] of cases) {
      await assert.rejects(connections.providers.add(definition(change), "ada"), {
        code: "request_invalid",
        message,
      });
    }
  });
});
