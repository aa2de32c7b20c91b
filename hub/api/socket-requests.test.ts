import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import type { AccessControl } from "#hub/api/http/route.ts";
import { ANONYMOUS } from "#hub/auth/accounts/principal.ts";
import { AppError } from "#proto/kit/errors.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";

const hub = new FakeHub();
let isSignedIn = true;
let isHanging = false;
const asked: string[] = [];

/** Knows one cookie, whose owner may read. */
const ACCESS: AccessControl = {
  authenticate: ({ headers, ip }) => {
    asked.push(ip);
    if (isHanging) return new Promise(() => undefined);
    if (!isSignedIn || headers.cookie !== "session=ann")
      throw new AppError("unauthenticated", "sign in first");
    return Promise.resolve(ANONYMOUS);
  },
  authorize: (_, actions) => {
    const refused = actions.find((action) => action !== "monitor" && action !== "search");
    if (refused !== undefined) throw new AppError("forbidden", `no right to ${refused}`);
  },
};

before(() => hub.start({ access: ACCESS }));
after(() => hub.stop());

const signal = new AbortController().signal;

/** Runs requests as the client of an upgrade with these headers. */
function runAs(headers: Record<string, string>) {
  const { host } = new URL(hub.server.addresses.dashboard);
  const upgrade = { headers: { host, ...headers }, socket: { remoteAddress: "192.0.2.7" } };
  return hub.server.runFor(upgrade as unknown as IncomingMessage);
}

test("a request over the socket has the rights of its client, looked up for each", async () => {
  const origin = hub.server.addresses.dashboard;
  const run = runAs({ cookie: "session=ann", origin });
  const { status, body } = await run({ method: "GET", path: "/api/agents" }, signal);
  assert.deepEqual([status, JSON.parse(body)], [200, [{ name: "web-1" }]]);
  assert.equal(asked.at(-1), "192.0.2.7");
  const refused = await run({ method: "PUT", path: "/es/shop", body: "{}" }, signal);
  assert.equal(refused.status, 403);
  assert.equal((await runAs({ origin })({ method: "GET", path: "/api/agents" }, signal)).status, 401);
  isSignedIn = false;
  assert.equal((await run({ method: "GET", path: "/api/agents" }, signal)).status, 401);
  isSignedIn = true;
});

test("a request over the socket is checked for the page it comes from", async () => {
  const run = runAs({ cookie: "session=ann", origin: "https://evil.example.org" });
  assert.equal((await run({ method: "POST", path: "/es/shop/_search", body: "{}" }, signal)).status, 403);
});

test("a request over the socket ends with its signal", async () => {
  const abort = new AbortController();
  const run = runAs({ cookie: "session=ann" });
  isHanging = true;
  const answer = run({ method: "GET", path: "/api/status" }, abort.signal);
  abort.abort();
  await assert.rejects(answer, { name: "AbortError" });
});
