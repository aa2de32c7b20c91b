import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { PodWatch } from "./pod-watch.ts";

interface Asked {
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
}

/** The servers of all tests are of one authority and have one certificate. */
const certificates = mkdtempSync(join(tmpdir(), "tailrace-certificates-"));
const authority = makeAuthority(certificates);
const served = issueCertificate(certificates, "api", authority, ["127.0.0.1"]);
after(() => rmSync(certificates, { recursive: true }));

/** An API server whose requests the test answers one by one, and a watch whose pauses are over at once. */
async function apiServer(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-account-"));
  t.after(() => rmSync(folder, { recursive: true }));
  copyFileSync(authority.certificate, join(folder, "ca.crt"));
  writeFileSync(join(folder, "token"), "first\n");
  const waiting: Asked[] = [];
  const server = createServer(
    { cert: readFileSync(served.certificate), key: readFileSync(served.key) },
    ({ url, headers }, response) => waiting.push({ url: new URL(url!, "https://api"), headers, response }),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const pauses: number[] = [];
  const pods = new PodWatch({
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    account: folder,
    node: "node-1",
    log: silentLogger(),
    clock: {
      ...systemClock,
      sleep: (ms) => {
        pauses.push(ms);
        return Promise.resolve();
      },
    },
  });
  t.after(async () => {
    await pods.stop();
    server.closeAllConnections();
    server.close();
  });
  const next = async (): Promise<Asked> => {
    while (waiting.length === 0) await turn();
    return waiting.shift()!;
  };
  /** Answers the next request, which must be a list. */
  const list = async (body: object, status = 200): Promise<Asked> => {
    const asked = await next();
    assert.equal(asked.url.searchParams.get("watch"), null, "a list");
    asked.response.writeHead(status).end(JSON.stringify(body));
    return asked;
  };
  /** Takes the next request, which must be a watch, and begins its answer. */
  const watch = async () => {
    const asked = await next();
    assert.equal(asked.url.searchParams.get("watch"), "1", "a watch");
    asked.response.writeHead(200);
    asked.response.flushHeaders();
    const send = (type: string, object: object): void => {
      asked.response.write(`${JSON.stringify({ type, object })}\n`);
    };
    return { ...asked, send, version: asked.url.searchParams.get("resourceVersion") };
  };
  const labels = (key: string): unknown => pods.fieldsOf(key)?.["labels"];
  const becomes = async (key: string, expected: object | undefined): Promise<void> => {
    while (JSON.stringify(labels(key)) !== JSON.stringify(expected)) await turn();
  };
  pods.fieldsOf("shop/web-1");
  return { pods, folder, next, list, watch, becomes, labels, pauses };
}

const pod = (name: string, labels: object, resourceVersion = "1") => ({
  metadata: { namespace: "shop", name, uid: `uid-${name}`, labels, resourceVersion },
});
const page = (items: object[], resourceVersion: string, more?: string) => ({
  metadata: { resourceVersion, ...(more !== undefined && { continue: more }) },
  items,
});

test("the node's pods are listed in pages, as metadata, and then watched", async (t) => {
  const { pods, list, watch, becomes } = await apiServer(t);
  assert.equal(pods.isListing, true);
  const first = await list(page([pod("web-1", { app: "web" })], "7", "more"));
  assert.equal(first.url.pathname, "/api/v1/pods");
  assert.equal(first.url.searchParams.get("fieldSelector"), "spec.nodeName=node-1");
  assert.match(String(first.headers.accept), /as=PartialObjectMetadataList/);
  const second = await list(page([pod("web-2", { app: "old" })], "7"));
  assert.equal(second.url.searchParams.get("continue"), "more");
  const { send, version } = await watch();
  assert.equal(version, "7");
  assert.equal(pods.isListing, false);
  send("ADDED", pod("web-3", { app: "new" }, "8"));
  send("MODIFIED", pod("web-2", { app: "web" }, "9"));
  send("DELETED", pod("web-1", { app: "web" }, "10"));
  await becomes("shop/web-3", { app: "new" });
  await becomes("shop/web-2", { app: "web" });
  assert.deepEqual(pods.fieldsOf("shop/web-1"), {
    pod: { uid: "uid-web-1" },
    labels: { app: "web" },
    node: { name: "node-1" },
  });
});

test("a watch that is cut goes on from its last bookmark, with the token of that time", async (t) => {
  const { folder, list, watch, becomes } = await apiServer(t);
  await list(page([], "7"));
  const { send, response, headers } = await watch();
  assert.equal(headers.authorization, "Bearer first");
  send("ADDED", pod("web-1", { app: "web" }, "8"));
  send("BOOKMARK", { metadata: { resourceVersion: "42" } });
  await becomes("shop/web-1", { app: "web" });
  writeFileSync(join(folder, "token"), "second\n");
  response.destroy();
  const again = await watch();
  assert.deepEqual([again.version, again.headers.authorization], ["42", "Bearer second"]);
  again.response.end();
  assert.equal((await watch()).version, "42", "the server ended it in order");
});

test("a version that is gone is listed anew, whether an event or the answer says so", async (t) => {
  const { next, list, watch, becomes } = await apiServer(t);
  await list(page([pod("web-1", { v: "1" })], "7"));
  const { send } = await watch();
  send("ERROR", { kind: "Status", code: 410, reason: "Expired" });
  await list(page([pod("web-1", { v: "2" })], "50"));
  const second = await watch();
  assert.equal(second.version, "50");
  await becomes("shop/web-1", { v: "2" });
  second.response.destroy();
  const refused = await next();
  refused.response.writeHead(410).end("{}");
  await list(page([pod("web-1", { v: "3" })], "60", "expired"));
  await list({}, 410);
  await list(page([pod("web-1", { v: "4" })], "70"));
  assert.equal((await watch()).version, "70");
});

test("a refused list ends the waiting, and pauses grow to a minute", async (t) => {
  const { pods, list, watch, pauses } = await apiServer(t);
  for (let n = 0; n < 8; n++) {
    await list({ message: "pods is forbidden" }, 403);
    while (pauses.length <= n) await turn();
    assert.equal(pods.isListing, false);
  }
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  await list(page([], "7"));
  await watch();
});

test("what the server sends can't fill the memory", async (t) => {
  const { pods, list, watch, becomes, labels } = await apiServer(t);
  await list(page([], "7"));
  const { send, response } = await watch();
  for (let n = 0; n < 1_500; n++) send("ADDED", pod(`pod-${n}`, { n: String(n) }, String(n)));
  send("ADDED", pod("large", { text: "x".repeat(20_000) }, "1501"));
  send("ADDED", pod("last", { app: "web" }, "1502"));
  await becomes("shop/last", { app: "web" });
  assert.equal(labels("shop/pod-0"), undefined, "the oldest are forgotten");
  assert.deepEqual(labels("shop/pod-1000"), { n: "1000" });
  assert.deepEqual(pods.fieldsOf("shop/large"), { pod: { uid: "uid-large" }, node: { name: "node-1" } });
  response.on("error", () => undefined);
  response.write("x".repeat(3_000_000));
  await list(page([], "2000"));
  assert.equal((await watch()).version, "2000", "an event without an end is given up");
});

test("a list without an end holds the lines of containers up for a bounded number of pages", async (t) => {
  const { pods, list, next } = await apiServer(t);
  for (let pages = 0; pages < 100; pages++) await list(page([pod(`web-${pages}`, {})], "7", "more"));
  assert.equal((await next()).url.searchParams.get("continue"), null, "a list from the start");
  assert.equal(pods.isListing, false);
});

test("pods and events of other kinds are left out", async (t) => {
  const { list, watch, becomes, labels } = await apiServer(t);
  const odd = [null, 5, { metadata: "x" }, { metadata: { namespace: {}, name: [] } }];
  await list({ metadata: { resourceVersion: 7 }, items: [...odd, pod("web-1", { app: "web" })] });
  const events = await watch();
  await becomes("shop/web-1", { app: "web" });
  for (const each of odd) events.send("MODIFIED", each as object);
  events.response.write("null\n");
  events.send("MODIFIED", pod("web-1", { app: "new" }, "9"));
  await becomes("shop/web-1", { app: "new" });
  assert.equal(labels("{}/"), undefined);
});
