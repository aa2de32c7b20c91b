/** Attacks on sign-in and rights, against a hub with TLS and sign-in. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { Browser } from "#test/conformance/oauth/browser.ts";
import { ADMIN, type KeyRole, SecuredHub } from "./secured-hub.ts";

/** In the address of a webhook, which often holds a token. */
const WEBHOOK_SECRET = "hook-token-4711";

suite("attacks on sign-in and rights", () => {
  let target: SecuredHub;
  before(async () => {
    target = await SecuredHub.start();
    for (const index of ["logs-1", "other-1"]) {
      const made = await target.request(`/${index}/_doc/1?refresh=true`, {
        method: "PUT",
        role: "admin",
        body: '{"word":"hidden"}',
      });
      assert.equal(made.status, 201, made.text);
    }
  });
  after(() => target.close());

  for (const address of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
    "/%2e//evil.example",
    "/..//evil.example",
    "/.\\/evil.example",
    "/\t/evil.example",
  ]) {
    test(`after sign-in the return address ${JSON.stringify(address)} leads nowhere else`, async () => {
      const origin = target.hub.dashboardUrl;
      const browser = new Browser();
      const login = `${origin}/api/auth/login?return_to=${encodeURIComponent(address)}`;
      const form = await browser.follow(await browser.get(login), origin);
      const page = await browser.follow(await browser.submit(form, "/sign-in", ADMIN), origin);
      assert.ok(browser.cookie("__Host-tailrace_session") !== undefined, "signed in");
      assert.equal(new URL(page.url).origin, origin);
      assert.ok(page.location === null || new URL(page.location).origin === origin, page.location ?? "");
    });
  }

  test("wrong current passwords of somebody signed in are limited", async () => {
    const basic = `Basic ${Buffer.from(`${ADMIN.name}:${ADMIN.password}`).toString("base64")}`;
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 25 && !statuses.has(429); attempt++) {
      const body = JSON.stringify({ current: `wrong password ${attempt}`, password: "another password" });
      const headers = { authorization: basic };
      statuses.add(
        (await target.request("/api/auth/password", { method: "POST", headers, body, dashboard: true }))
          .status,
      );
    }
    assert.deepEqual(statuses, new Set([403, 429]));
  });

  test("every answer of both listeners has Strict-Transport-Security", async () => {
    for (const [path, dashboard] of [
      ["/", false],
      ["/nothing/_doc/1", false],
      ["/", true],
      ["/api/status", true],
      ["/token", true],
    ] as const) {
      const { headers } = await target.request(path, { dashboard });
      assert.match(headers.get("strict-transport-security") ?? "", /^max-age=\d{7,}$/, path);
    }
  });

  test("requests by another host name and of another origin are refused", async () => {
    const foreignPage = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    const answer = await target.request("/logs-1/_search", { role: "viewer", headers: foreignPage });
    assert.equal(answer.status, 403, answer.text);
    const socket = await target.connection();
    socket.write(`GET / HTTP/1.1\r\nHost: evil.example\r\nAuthorization: ${target.keys.admin}\r\n\r\n`);
    const head = await firstLine(socket);
    socket.destroy();
    assert.match(head, /^HTTP\/1\.1 403 /);
  });

  /** Requests with the roles that may send them; every other role gets 403 and nothing of the answer. */
  const MATRIX: readonly (readonly [method: string, path: string, body: string | undefined, KeyRole[]])[] = [
    ["GET", "/logs-1/_search", undefined, ["admin", "editor", "viewer"]],
    ["GET", "/logs-1/_doc/1", undefined, ["admin", "editor", "viewer"]],
    ["POST", "/_msearch", '{"index":"logs-1"}\n{}\n', ["admin", "editor", "viewer"]],
    ["POST", "/logs-1/_doc", '{"word":"new"}', ["admin", "editor", "ingest"]],
    ["PUT", "/logs-1/_settings", '{"index.refresh_interval":"2s"}', ["admin", "editor"]],
    ["DELETE", "/other-1", undefined, ["admin"]],
    ["GET", "es/api/auth/accounts", undefined, ["admin"]],
    ["GET", "es/api/auth/keys", undefined, ["admin"]],
    ["GET", "es/api/auth/clients", undefined, ["admin"]],
    ["GET", "es/api/connections", undefined, ["admin", "editor"]],
    ["GET", "es/api/dead-letters", undefined, ["admin"]],
  ];
  for (const [method, path, body, allowed] of MATRIX) {
    test(`${method} ${path.replace(/^es/, "")} is for ${allowed.join(", ")}`, async () => {
      const dashboard = path.startsWith("es");
      const request = { method, dashboard, ...(body === undefined ? {} : { body }) };
      const url = path.replace(/^es/, "");
      // Those who may come last: one of the requests deletes what the others ask for.
      for (const role of ["ingest", "viewer", "editor", "admin"] as const) {
        const { status, text } = await target.request(url, { ...request, role });
        if (allowed.includes(role)) assert.ok(status < 300, `${role}: ${status} ${text}`);
        else {
          // _msearch answers 200 with the refusal of each search inside.
          const refusal =
            status === 200 ? (JSON.parse(text) as { responses: { status: number }[] }) : undefined;
          assert.ok(
            status === 403 || refusal?.responses.every((each) => each.status === 403),
            `${role}: ${text}`,
          );
          assert.doesNotMatch(text, /hidden|ada|tlr_/, `${role} learns nothing`);
        }
      }
      assert.equal((await target.request(url, request)).status, 401, "nobody");
    });
  }

  test("who may not change alerts doesn't see the address of a webhook", async () => {
    const url = `https://hooks.example.net/${WEBHOOK_SECRET}`;
    const rule = { title: "Errors", query: "error", channels: [{ type: "webhook", url }] };
    const request = { role: "admin", dashboard: true } as const;
    const made = await target.request("/api/alerts", {
      ...request,
      method: "POST",
      body: JSON.stringify(rule),
    });
    assert.equal(made.status, 201, made.text);
    const { id } = JSON.parse(made.text) as { id: string };
    for (const path of ["/api/alerts", `/api/alerts/${id}`]) {
      const admin = await target.request(path, request);
      assert.ok(admin.text.includes(url), admin.text);
      const viewer = await target.request(path, { role: "viewer", dashboard: true });
      assert.equal(viewer.status, 200, viewer.text);
      assert.ok(viewer.text.includes("https://hooks.example.net/…"), viewer.text);
      assert.ok(!viewer.text.includes(WEBHOOK_SECRET), viewer.text);
    }
  });
});

function firstLine(socket: NodeJS.ReadableStream): Promise<string> {
  return new Promise((settle) => {
    socket.once("data", (chunk: Buffer) => settle(chunk.toString("latin1").split("\r\n", 1)[0] ?? ""));
    socket.once("close", () => settle(""));
  });
}
