import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { connect, nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import WebSocket from "ws";
import { LIVE_PATH, LIVE_PROTOCOL } from "#proto/live.ts";
import { Browser } from "#test/conformance/oauth/browser.ts";
import { TestHub } from "#test/harness/hub.ts";
import { keepSecret } from "#test/harness/secrets.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const MAIN = resolve(import.meta.dirname, "../../hub/main.ts");
const ADMIN = { name: "ada", password: "correct horse battery" };
const BASIC = basic(ADMIN.name, ADMIN.password);
/** Of the right form, known to nobody. */
const UNKNOWN_KEY = `Bearer tlr_${"0".repeat(18)}_${"A".repeat(43)}`;
const EXPIRES_AFTER_MS = 1_500;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly challenge: string | null;
}

suite("a hub with auth.mode: required", () => {
  const workspace = new Workspace();
  const hub = new TestHub({
    dataDir: workspace.path("hub-data"),
    settings: { "auth.mode": "required", "auth.session.idle": "1h" },
  });
  let keys: Record<"viewer" | "ingest" | "expiring" | "narrow" | "narrowIngest", string>;

  before(async () => {
    workspace.defer(() => hub.destroy());
    await command(["user", "add", ADMIN.name, "--role", "admin", "--path.data", hub.dataDir], ADMIN.password);
    await hub.start();
    for (const index of ["public-1", "secret-1"]) {
      const made = await ask("PUT", `${hub.searchUrl}/${index}/_doc/1?refresh=true`, BASIC, {
        word: "hidden",
        message: `a line of ${index}`,
        "@timestamp": new Date().toISOString(),
      });
      assert.equal(made.status, 201, made.body);
    }
    const [viewer, ingest, expiring, narrow, narrowIngest] = await Promise.all([
      issue({ name: "viewer", role: "viewer" }),
      issue({ name: "ingest", role: "ingest" }),
      issue({
        name: "old",
        role: "admin",
        expires_at: new Date(Date.now() + EXPIRES_AFTER_MS).toISOString(),
      }),
      issue({ name: "narrow", role: "viewer", indices: ["public-*"] }),
      issue({ name: "narrow-ingest", role: "ingest", indices: ["public-*"] }),
    ]);
    keys = { viewer, ingest, expiring, narrow, narrowIngest };
    for (const secret of [ADMIN.password, BASIC, ...Object.values(keys)])
      keepSecret(secret.replace(/^\w+ /, ""));
  });
  after(() => workspace.close());

  async function issue(wanted: Record<string, unknown>): Promise<string> {
    const answer = await ask("POST", `${hub.dashboardUrl}/api/auth/keys`, BASIC, wanted);
    assert.equal(answer.status, 201, answer.body);
    return `Bearer ${(JSON.parse(answer.body) as { key: string }).key}`;
  }

  /** One address of each interface, all of them open to an administrator. */
  function interfaces(): string[] {
    const { searchUrl, dashboardUrl } = hub;
    return [
      `${searchUrl}/`,
      `${searchUrl}/public-1/_search`,
      `${searchUrl}/_cat/indices`,
      `${dashboardUrl}/api/status`,
      `${dashboardUrl}/metrics`,
      `${dashboardUrl}/es/public-1/_search`,
      `${dashboardUrl}/api/auth/accounts`,
    ];
  }

  test("each interface refuses missing, wrong and expired credentials and reveals nothing", async () => {
    await until("the end of a key", async () => {
      return (await ask("GET", `${hub.searchUrl}/`, keys.expiring)).status === 401;
    });
    for (const url of interfaces()) {
      const served = await ask("GET", url, BASIC);
      assert.equal(served.status, 200, `${url} serves an administrator: ${served.body}`);
      const refused = new Map<string, Answer>();
      for (const [what, authorization, status] of [
        ["missing", undefined, 401],
        ["unknown key", UNKNOWN_KEY, 401],
        ["expired key", keys.expiring, 401],
        ["wrong secret", `${keys.viewer.slice(0, -4)}AAAA`, 401],
        ["unknown token", "Bearer nonsense", 401],
        ["malformed", "nonsense", 400],
      ] as const) {
        const answer = await ask("GET", url, authorization);
        assert.equal(answer.status, status, `${what} at ${url}: ${answer.body}`);
        assert.match(answer.challenge ?? "", /^Bearer realm="tailrace"/, `${what} at ${url}`);
        assert.doesNotMatch(answer.body, /hidden|public-1|secret-1|6\.5\.4|stack|\.ts/, `${what} at ${url}`);
        refused.set(what, answer);
      }
      assert.deepEqual(refused.get("expired key"), refused.get("unknown key"), "an expired key is like none");
      assert.deepEqual(refused.get("wrong secret"), refused.get("unknown key"), "and so is a wrong secret");
    }
  });

  test("a wrong password is refused like an unknown name", async () => {
    const url = `${hub.searchUrl}/`;
    const wrong = await ask("GET", url, basic(ADMIN.name, "wrong horse battery"));
    assert.equal(wrong.status, 401);
    assert.deepEqual(wrong, await ask("GET", url, basic("nobody", "wrong horse battery")));
  });

  test("the live socket refuses missing, wrong and expired credentials, foreign pages and those who may not read", async () => {
    const url = hub.dashboardUrl.replace("http", "ws") + LIVE_PATH;
    for (const [what, headers, status] of [
      ["missing", {}, 401],
      ["unknown key", { authorization: UNKNOWN_KEY }, 401],
      ["expired key", { authorization: keys.expiring }, 401],
      ["malformed", { authorization: "nonsense" }, 400],
      ["foreign page", { authorization: keys.viewer, origin: "https://evil.example" }, 403],
      ["ingest key", { authorization: keys.ingest }, 403],
      ["viewer", { authorization: keys.viewer }, 101],
    ] as const) {
      assert.equal(await openSocket(url, headers), status, what);
    }
  });

  test("the agents' listener refuses missing, wrong and unknown credentials, and those of the other interfaces", async () => {
    const stranger = nkeys.createUser();
    const [, key = ""] = keys.viewer.split(" ");
    for (const [what, credentials] of [
      ["missing", {}],
      ["wrong token", { token: "nonsense" }],
      ["unknown key", { authenticator: nkeyAuthenticator(stranger.getSeed()) }],
      ["key of another interface", { token: key }],
      ["password of a person", { user: ADMIN.name, pass: ADMIN.password }],
    ] as const) {
      await assert.rejects(
        connect({ servers: hub.natsUrl, reconnect: false, ...credentials }),
        /authorization violation/i,
        what,
      );
    }
    const own = await connect({ servers: hub.natsUrl, reconnect: false, user: "tailrace", pass: hub.token });
    await own.close();
  });

  test("an agent's key opens the agents' listener only, until it is revoked", async () => {
    const issued = await ask("POST", `${hub.dashboardUrl}/api/auth/agents`, BASIC, { name: "web-1" });
    assert.equal(issued.status, 201, issued.body);
    const { seed, public_key: id } = JSON.parse(issued.body) as { seed: string; public_key: string };
    const authenticator = nkeyAuthenticator(Buffer.from(keepSecret(seed)));
    const enter = () => connect({ servers: hub.natsUrl, reconnect: false, authenticator });
    const connected = (await until("the server to know the key", () => enter().catch(() => undefined)))!;
    for (const url of interfaces()) assert.equal((await ask("GET", url, `Bearer ${seed}`)).status, 401, url);
    const revoked = await ask("DELETE", `${hub.dashboardUrl}/api/auth/agents/${id}`, BASIC);
    assert.equal(revoked.status, 204, revoked.body);
    await connected.closed();
    await assert.rejects(enter(), /authorization violation/i);
  });

  test("a viewer reads and can't write, an ingest key writes and can't read", async () => {
    const at = (path: string): string => `${hub.searchUrl}/${path}`;
    const line = `${JSON.stringify({ index: { _index: "public-1", _type: "_doc" } })}\n{"word":"new"}\n`;
    for (const [method, path, body, viewer, ingest] of [
      ["GET", "public-1/_search", undefined, 200, 403],
      ["GET", "public-1/_doc/1", undefined, 200, 403],
      ["GET", "public-1/_count", undefined, 200, 403],
      ["POST", "public-1/_doc", { word: "new" }, 403, 201],
      ["PUT", "public-1/_doc/2", { word: "new" }, 403, 201],
      ["POST", "_bulk", line, 403, 200],
      ["PUT", "made", {}, 403, 403],
      ["DELETE", "public-1", undefined, 403, 403],
      ["PUT", "_cluster/settings", { transient: {} }, 403, 403],
    ] as const) {
      const asViewer = await ask(method, at(path), keys.viewer, body);
      const asIngest = await ask(method, at(path), keys.ingest, body);
      assert.deepEqual([asViewer.status, asIngest.status], [viewer, ingest], `${method} ${path}`);
    }
    for (const key of [keys.viewer, keys.ingest]) {
      assert.equal((await ask("GET", `${hub.dashboardUrl}/api/auth/accounts`, key)).status, 403);
    }
  });

  test("a key reaches the indices of its patterns, however others are named", async () => {
    const at = (path: string): string => `${hub.searchUrl}/${path}`;
    for (const path of [
      "secret-1/_search",
      "public-1,secret-1/_search",
      "secret-1/_doc/1",
      "secret-1/_mapping",
    ]) {
      assert.equal((await ask("GET", at(path), keys.narrow)).status, 403, path);
    }
    for (const path of ["_search", "*/_search", "_all/_search", "_cat/indices", "_mapping", "_cat/shards"]) {
      const answer = await ask("GET", at(path), keys.narrow);
      assert.equal(answer.status, 200, path);
      assert.match(answer.body, /public-1/, path);
      assert.doesNotMatch(answer.body, /secret-1/, path);
    }
    for (const url of [hub.searchUrl, `${hub.dashboardUrl}/es`]) {
      const query = encodeURIComponent('{_index=~".+"}');
      const lines = await ask("GET", `${url}/loki/api/v1/query_range?query=${query}`, keys.narrow);
      assert.match(lines.body, /a line of public-1/);
      assert.doesNotMatch(lines.body, /secret-1/);
    }
    const docs = { docs: [{ _index: "secret-1", _type: "_doc", _id: "1" }] };
    assert.doesNotMatch((await ask("POST", at("_mget"), keys.narrow, docs)).body, /hidden/);
    const searches = `{"index":"secret-1"}\n{"query":{"match_all":{}}}\n`;
    assert.doesNotMatch((await ask("POST", at("_msearch"), keys.narrow, searches)).body, /hidden/);
    const lines = ["public-1", "secret-1"].map(
      (index) => `${JSON.stringify({ index: { _index: index, _type: "_doc" } })}\n{"word":"new"}\n`,
    );
    const bulk = await ask("POST", at("_bulk"), keys.narrowIngest, lines.join(""));
    const { items } = JSON.parse(bulk.body) as { items: { index: { status: number } }[] };
    assert.deepEqual(
      items.map(({ index }) => index.status),
      [201, 403],
    );
    // Above 1 MiB a thread of its own has the body, and gives it back.
    const [reached, hidden] = lines.map((line) => line.replace("new", "n".repeat(1_000)).repeat(1_500));
    for (const [large, status] of [
      [reached, 201],
      [hidden, 403],
    ] as const) {
      const answer = await ask("POST", at("_bulk"), keys.narrowIngest, large);
      const { items } = JSON.parse(answer.body) as { items: { index: { status: number } }[] };
      assert.deepEqual(
        [items.length, new Set(items.map(({ index }) => index.status))],
        [1_500, new Set([status])],
      );
    }
  });

  test("audit events are in an index that only administrators can read", async () => {
    const url = `${hub.searchUrl}/.tailrace-audit-*/_search?q=event.action:api_key_issued`;
    await until("the entries", async () => (await ask("GET", url, BASIC)).body.includes("narrow-ingest"));
    assert.doesNotMatch((await ask("GET", url, keys.viewer)).body, /narrow-ingest/);
    assert.doesNotMatch((await ask("GET", `${hub.searchUrl}/_cat/indices`, keys.viewer)).body, /audit/);
  });

  test("the page leads to the sign-in; with its session all interfaces work, and probes need none", async () => {
    const origin = hub.dashboardUrl;
    assert.equal((await ask("GET", `${origin}/health`)).status, 200);
    const browser = new Browser();
    const form = await browser.follow(await browser.get(`${origin}/`), origin);
    const page = await browser.follow(await browser.submit(form, "/sign-in", ADMIN), origin);
    assert.deepEqual([page.url, page.status], [`${origin}/`, 200]);
    assert.equal((await browser.get(`${origin}/es/public-1/_search`)).status, 200);
    const cookie = `tailrace_session=${browser.cookie("tailrace_session")}`;
    const live = origin.replace("http", "ws") + LIVE_PATH;
    assert.equal(await openSocket(live, { cookie, origin }), 101);
    assert.equal(await openSocket(live, { cookie }), 403, "a cookie without an origin may be anybody's page");
  });

  test("a password changed on the command line of a running hub takes effect immediately", async () => {
    await command(["user", "add", "vic", "--path.data", hub.dataDir], "first horse battery");
    const url = `${hub.searchUrl}/public-1/_search`;
    assert.equal((await ask("GET", url, basic("vic", "first horse battery"))).status, 200);
    await command(["user", "passwd", "vic", "--path.data", hub.dataDir], "second horse battery");
    assert.equal((await ask("GET", url, basic("vic", "first horse battery"))).status, 401);
    assert.match(await command(["user", "list", "--path.data", hub.dataDir]), /^vic +viewer +\*$/m);
  });
});

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

async function ask(method: string, url: string, authorization?: string, body?: unknown): Promise<Answer> {
  const isLines = typeof body === "string";
  const response = await fetch(url, {
    method,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { "content-type": isLines ? "application/x-ndjson" : "application/json" }),
    },
    ...(body !== undefined && { body: isLines ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  return {
    status: response.status,
    body: await response.text(),
    challenge: response.headers.get("www-authenticate"),
  };
}

/** Returns the status of the upgrade, 101 where the socket opened. */
async function openSocket(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const socket = new WebSocket(url, LIVE_PROTOCOL, { headers });
  const { promise, resolve: settle, reject } = Promise.withResolvers<number>();
  socket.on("error", reject);
  socket.on("unexpected-response", (request, response) => {
    settle(response.statusCode ?? 0);
    request.destroy();
  });
  socket.on("open", () => settle(101));
  try {
    return await promise;
  } finally {
    socket.on("error", () => undefined);
    socket.terminate();
  }
}

/** Runs a command of the hub with `input` as its standard input and returns what it printed. */
async function command(args: readonly string[], input = ""): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(`${input}\n`);
  const [printed, [status]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(status, 0, printed);
  return printed;
}
