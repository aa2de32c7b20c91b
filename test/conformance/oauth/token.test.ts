/** The token endpoint: cases T01 to T32 and R01 to R12, with races, replays and expiry. */

import assert from "node:assert/strict";
import { after, afterEach, before, mock, suite, test } from "node:test";
import {
  basicHeader,
  exchangeFields,
  REDIRECT_URI,
  read,
  type TestClient,
  type TokenAnswer,
  World,
} from "./auth-server.ts";
import { OTHER_SCOPE } from "./settings.ts";
import { bodyCases, CHALLENGE, type TokenCase, tokenCases, VERIFIER } from "./token-cases.ts";

suite("token endpoint", () => {
  let world: World;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    world.browser = await world.signedInBrowser();
  });
  after(() => world.stop());
  afterEach(() => mock.timers.reset());

  for (const each of tokenCases) {
    test(`${each.id} ${each.name}: ${each.status} ${each.error ?? ""}`, async () => {
      const client = await world.addClient();
      const code = await world.code(client, each.authorization);
      const answer = await exchangeAs(world, client, code, each);
      assert.equal(answer.status, each.status, JSON.stringify(answer.body));
      assert.equal(answer.headers.get("cache-control"), "no-store");
      if (each.status === 200) return assertTokens(answer);
      assert.equal(answer.body["error"], each.error);
      if (each.codeSurvives === true) assert.equal((await world.exchange(client, code)).status, 200);
    });
  }

  for (const { id, name, contentType, body, statuses } of bodyCases) {
    test(`${id} ${name}: refused`, async () => {
      const init = { method: "POST", body, headers: { "content-type": contentType } };
      const answer = await read(await fetch(`${world.origin}/token`, init));
      assert.ok(statuses.includes(answer.status), String(answer.status));
      assert.equal(answer.body["error"], "invalid_request");
    });
  }

  test("T06b an unknown client and a wrong secret get the same answer", async () => {
    const client = await world.addClient();
    const wrong = await world.exchange(client, "x", { client_secret: "wrong" });
    const unknown = await world.exchange(client, "x", { client_id: "0123" });
    assert.deepEqual([wrong.status, wrong.body], [unknown.status, unknown.body]);
  });

  test("T07 a wrong secret in HTTP Basic: 401 with WWW-Authenticate: Basic", async () => {
    const client = await world.addClient();
    const headers = { authorization: basicHeader({ ...client, clientSecret: "wrong" }) };
    const fields = { grant_type: "authorization_code", code: "x", redirect_uri: REDIRECT_URI };
    const answer = await world.ask("/token", fields, headers);
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic /);
  });

  test("T10 a code of another client: invalid_grant, and the code still works for its owner", async () => {
    const [owner, thief] = [await world.addClient(), await world.addClient()];
    const code = await world.code(owner);
    const stolen = await world.exchange(thief, code);
    assert.equal(stolen.body["error"], "invalid_grant");
    assert.equal((await world.exchange(owner, code)).status, 200);
  });

  test("T17 a code used twice: invalid_grant, and the tokens of the first exchange are dead", async () => {
    const client = await world.addClient();
    const code = await world.code(client);
    const { body } = await world.exchange(client, code);
    assert.equal((await world.exchange(client, code)).body["error"], "invalid_grant");
    assert.equal(await world.apiStatus(String(body["access_token"])), 401);
    assert.equal((await world.refresh(client, String(body["refresh_token"]))).body["error"], "invalid_grant");
  });

  test("T17b a code used twice leaves what came from other codes alone", async () => {
    const client = await world.addClient();
    const first = await world.tokens(client);
    const code = await world.code(client);
    await world.exchange(client, code);
    await world.exchange(client, code);
    assert.equal(await world.apiStatus(first.access), 200);
  });

  test("T18 fifty parallel exchanges of one code: one token pair, and it is dead afterwards", async () => {
    const client = await world.addClient();
    const code = await world.code(client);
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.exchange(client, code)));
    await assertOneDeadWinner(world, answers);
  });

  test("T18b the same over two hubs with one state", async () => {
    const shared = { bucket: world.bucket, dataPath: world.dataPath, publicUrl: world.origin };
    const other = await World.start(shared);
    try {
      const client = await world.addClient();
      const code = await world.code(client);
      const address = other.app.server.address();
      const elsewhere = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
      const ask = (index: number): Promise<TokenAnswer> => {
        const init = { method: "POST", body: new URLSearchParams(exchangeFields(client, code)) };
        return fetch(`${index % 2 === 0 ? world.origin : elsewhere}/token`, init).then(read);
      };
      await assertOneDeadWinner(
        world,
        await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index))),
      );
    } finally {
      await other.app.close();
      await other.auth.stop();
    }
  });

  test("T19 an expired code: invalid_grant", async () => {
    const client = await world.addClient();
    const code = await world.code(client);
    passSeconds(61);
    assert.equal((await world.exchange(client, code)).body["error"], "invalid_grant");
  });

  test("T20 GET: 405 with Allow, no tokens", async () => {
    const answer = await fetch(`${world.origin}/token?grant_type=authorization_code`);
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get("allow"), "POST");
    assert.equal((await read(answer)).body["access_token"], undefined);
  });

  test("T22 a parameter in query and body: invalid_request", async () => {
    const client = await world.addClient();
    const code = await world.code(client);
    const answer = await world.ask(`/token?code=${code}`, exchangeFields(client, code));
    assert.equal(answer.status, 400);
    assert.equal(answer.body["error"], "invalid_request");
  });

  test("T33 a resource server may not use the grants: unauthorized_client", async () => {
    const server = await world.addClient([], { kind: "resource_server" });
    const answer = await world.exchange(server, "x");
    assert.equal(answer.body["error"], "unauthorized_client");
  });

  test("T34 a secret keeps working through a rotation, until it is retired", async () => {
    const client = await world.addClient();
    const { clients } = world.auth.provider;
    const rotated = await clients.rotate(client.clientId, "test");
    assert.equal((await world.exchange(client, await world.code(client))).status, 200);
    assert.equal((await world.exchange(rotated, await world.code(client))).status, 200);
    await clients.retireOldSecret(client.clientId, "test");
    assert.equal((await world.exchange(client, await world.code(client))).status, 401);
    assert.equal((await world.exchange(rotated, await world.code(client))).status, 200);
  });

  test("T35 a removed client's tokens are dead", async () => {
    const client = await world.addClient();
    const { access } = await world.tokens(client);
    await world.auth.provider.clients.remove(client.clientId, "test");
    assert.equal(await world.apiStatus(access), 401);
  });

  test("T36 a client that fails too often must wait; other clients and networks don't", async () => {
    const client = await world.addClient();
    const statuses = new Set<number>();
    for (let i = 0; i < 22; i++)
      statuses.add((await world.exchange(client, "x", { client_secret: "wrong" })).status);
    assert.deepEqual([...statuses], [401, 429]);
    const other = await world.addClient();
    assert.equal((await world.exchange(other, await world.code(other))).status, 200);
  });

  for (const placement of ["form", "multipart", "query"] as const) {
    test(`R01.${placement} refresh: 200 and a new access token`, async () => {
      const client = await world.addClient();
      const { access, refresh } = await world.tokens(client);
      const fields = {
        grant_type: "refresh_token",
        refresh_token: refresh,
        client_id: client.clientId,
        client_secret: client.clientSecret,
      };
      const answer = await send(world, placement, fields);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.notEqual(answer.body["access_token"], access);
      assert.equal(await world.apiStatus(String(answer.body["access_token"])), 200);
    });
  }

  test("R02/R03 a refresh token without the secret or with a wrong one is refused and stays valid", async () => {
    const client = await world.addClient();
    const { refresh } = await world.tokens(client);
    for (const secret of [undefined, "wrong"]) {
      const answer = await world.refresh(client, refresh, { client_secret: secret });
      assert.deepEqual([answer.status, answer.body["error"]], [401, "invalid_client"]);
    }
    assert.equal((await world.refresh(client, refresh)).status, 200);
  });

  test("R04 with the secret of another client: invalid_grant", async () => {
    const [owner, thief] = [await world.addClient(), await world.addClient()];
    const { refresh } = await world.tokens(owner);
    assert.equal((await world.refresh(thief, refresh)).body["error"], "invalid_grant");
    assert.equal((await world.refresh(owner, refresh)).status, 200);
  });

  test("R05/R06/R07 an unknown, a missing and an access token instead of a refresh token", async () => {
    const client = await world.addClient();
    const { access } = await world.tokens(client);
    assert.equal((await world.refresh(client, "x".repeat(43))).body["error"], "invalid_grant");
    assert.equal(
      (await world.refresh(client, "", { refresh_token: undefined })).body["error"],
      "invalid_request",
    );
    assert.equal((await world.refresh(client, access)).body["error"], "invalid_grant");
  });

  test("R08/R09 scope may get narrower on refresh, not wider", async () => {
    const client = await world.addClient();
    const [logs, files] = [world.scope("logs.read"), OTHER_SCOPE];
    const { refresh } = await world.tokens(client, { scope: `${logs} ${files}` });
    const narrow = await world.refresh(client, refresh, { scope: files });
    assert.deepEqual([narrow.status, narrow.body["scope"]], [200, files]);
    assert.equal(await world.apiStatus(String(narrow.body["access_token"])), 403);
    const wide = await world.refresh(client, refresh, { scope: `${logs} ${world.scope("manage")}` });
    assert.deepEqual([wide.status, wide.body["error"]], [400, "invalid_scope"]);
  });

  test("R10 a rotated refresh token used again: invalid_grant, and the whole family is dead", async () => {
    const client = await world.addClient([REDIRECT_URI], { rotateRefreshTokens: true });
    const { refresh } = await world.tokens(client);
    const next = await world.refresh(client, refresh);
    assert.notEqual(next.body["refresh_token"], refresh);
    assert.equal((await world.refresh(client, refresh)).body["error"], "invalid_grant");
    assert.equal(await world.apiStatus(String(next.body["access_token"])), 401);
    assert.equal(
      (await world.refresh(client, String(next.body["refresh_token"]))).body["error"],
      "invalid_grant",
    );
  });

  test("R11 twenty parallel refreshes of one rotating token: at most one 200", async () => {
    const client = await world.addClient([REDIRECT_URI], { rotateRefreshTokens: true });
    const { refresh } = await world.tokens(client);
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.refresh(client, refresh)));
    await assertOneDeadWinner(world, answers);
  });

  test("R13 a public client refreshes without a secret, and its token rotates", async () => {
    const { clientId } = await world.addClient([REDIRECT_URI], { kind: "public" });
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
    const code = await world.code({ clientId }, pkce);
    const client = { clientId, clientSecret: "" };
    const nothing = { client_secret: undefined };
    const { body } = await world.exchange(client, code, { ...nothing, code_verifier: VERIFIER });
    const next = await world.refresh(client, String(body["refresh_token"]), nothing);
    assert.equal(next.status, 200);
    assert.notEqual(next.body["refresh_token"], body["refresh_token"]);
  });

  test("R12/B03 tokens end: the access token is refused, the refresh brings a new one, until it ends too", async () => {
    const client = await world.addClient();
    const { access, refresh } = await world.tokens(client);
    passSeconds(3_601);
    assert.equal(await world.apiStatus(access), 401);
    const next = await world.refresh(client, refresh);
    assert.equal(await world.apiStatus(String(next.body["access_token"])), 200);
    passSeconds(181 * 86_400);
    assert.equal((await world.refresh(client, refresh)).body["error"], "invalid_grant");
  });
});

function assertTokens({ body, headers }: TokenAnswer): void {
  assert.match(String(body["access_token"]), /^[A-Za-z0-9_-]{43}$/);
  assert.match(String(body["refresh_token"]), /^[A-Za-z0-9_-]{43}$/);
  assert.equal(body["token_type"], "Bearer");
  assert.equal(body["expires_in"], 3_600);
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.equal(headers.get("pragma"), "no-cache");
}

async function assertOneDeadWinner(world: World, answers: readonly TokenAnswer[]): Promise<void> {
  const winners = answers.filter(({ status }) => status === 200);
  assert.equal(winners.length, 1);
  for (const { status, body } of answers) if (status !== 200) assert.equal(body["error"], "invalid_grant");
  assert.equal(await world.apiStatus(String(winners[0]?.body["access_token"])), 401);
}

function exchangeAs(world: World, client: TestClient, code: string, each: TokenCase): Promise<TokenAnswer> {
  const { client_id, client_secret, ...rest } = exchangeFields(client, code);
  if (each.placement === "basic") {
    return send(world, "form", { ...rest, ...each.change }, { authorization: basicHeader(client) });
  }
  return send(
    world,
    each.placement ?? "form",
    { ...rest, client_id, client_secret, ...each.change },
    each.headers,
  );
}

function send(
  world: World,
  placement: "form" | "query" | "multipart",
  fields: Record<string, string | undefined>,
  headers: Readonly<Record<string, string>> = {},
): Promise<TokenAnswer> {
  const given = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const url = new URL(`${world.origin}/token`);
  if (placement === "query") {
    for (const [name, value] of given) url.searchParams.set(name, value);
    return fetch(url, { method: "POST", headers }).then(read);
  }
  const body = placement === "form" ? new URLSearchParams(given) : new FormData();
  if (body instanceof FormData) for (const [name, value] of given) body.set(name, value);
  return fetch(url, { method: "POST", headers, body }).then(read);
}

/** Moves the wall clock; sockets and timers continue as they do. */
function passSeconds(seconds: number): void {
  const now = Date.now();
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now: now + seconds * 1_000 });
}
