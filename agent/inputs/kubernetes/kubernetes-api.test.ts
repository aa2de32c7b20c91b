import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext as Run, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { containerInput } from "#agent/inputs/container.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { convert } from "#proto/kit/schema.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { testContext } from "#test/support/agent/recording-output.ts";
import { apiOfPod, KubernetesApi } from "./kubernetes-api.ts";

const PATH = `/var/log/containers/web-1_shop_nginx-${"a".repeat(64)}.log`;
const POD = {
  metadata: {
    uid: "u-1",
    labels: { app: "web" },
    ownerReferences: [{ kind: "ReplicaSet", name: "web-7d9" }],
  },
  spec: { nodeName: "node-1" },
};
const FIELDS = {
  pod: { uid: "u-1" },
  labels: { app: "web" },
  node: { name: "node-1" },
  owner: { kind: "ReplicaSet", name: "web-7d9" },
};

/** The servers of all tests are of one authority and have one certificate. */
const certificates = mkdtempSync(join(tmpdir(), "tailrace-certificates-"));
const authority = makeAuthority(certificates);
const served = issueCertificate(certificates, "api", authority, ["127.0.0.1"]);
after(() => rmSync(certificates, { recursive: true }));

/** An API server that gives `answers` one after the other, and an account that it knows. */
async function apiServer(
  t: Run,
  answers: readonly (readonly [status: number, body: unknown])[],
  answer?: (response: ServerResponse) => void,
) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-account-"));
  t.after(() => rmSync(folder, { recursive: true }));
  copyFileSync(authority.certificate, join(folder, "ca.crt"));
  writeFileSync(join(folder, "token"), "first\n");
  const asked: Pick<IncomingMessage, "url" | "headers">[] = [];
  const server = createServer(
    { cert: readFileSync(served.certificate), key: readFileSync(served.key) },
    ({ url, headers }, response) => {
      const at = asked.push({ url: url!, headers }) - 1;
      if (answer !== undefined) return answer(response);
      const [status, body] = answers[at]!;
      response.writeHead(status).end(JSON.stringify(body));
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const time = { ms: 0 };
  const api = new KubernetesApi({
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    account: folder,
    node: "",
    log: silentLogger(),
    clock: { ...systemClock, now: () => time.ms },
  });
  t.after(() => api.stop());
  return { api, asked, folder, time };
}

/** Resolves when nothing is asked for any more. */
async function answered(api: KubernetesApi): Promise<void> {
  while (api.awaits(PATH)) await turn();
}

test("a pod's labels, node and owner come from the API, asked once with the account's token", async (t) => {
  const { api, asked } = await apiServer(t, [[200, POD]]);
  assert.deepEqual(api.fieldsOf(PATH), {}, "nothing is held up");
  await answered(api);
  assert.deepEqual(api.fieldsOf(PATH), FIELDS);
  assert.equal(asked.length, 1);
  assert.equal(asked[0]!.url, "/api/v1/namespaces/shop/pods/web-1");
  assert.equal(asked[0]!.headers.authorization, "Bearer first");
});

test("a pod that the API doesn't return is requested again after a minute, with the current token", async (t) => {
  const { api, asked, folder, time } = await apiServer(t, [
    [403, { message: "no right to get pods" }],
    [200, POD],
  ]);
  api.fieldsOf(PATH);
  await answered(api);
  time.ms = 59_000;
  assert.deepEqual(api.fieldsOf(PATH), {});
  assert.equal(api.awaits(PATH), false, "not yet");
  writeFileSync(join(folder, "token"), "second\n");
  time.ms = 61_000;
  api.fieldsOf(PATH);
  await answered(api);
  assert.deepEqual(api.fieldsOf(PATH), FIELDS);
  assert.equal(asked[1]!.headers.authorization, "Bearer second");
});

for (const [what, metadata, expected] of [
  [
    "labels larger than messages may hold",
    {
      uid: "u-1",
      labels: Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`label-${at}`, "x".repeat(60)])),
    },
    { pod: { uid: "u-1" } },
  ],
  ["members of other kinds", { uid: { a: 1 }, labels: ["a"], ownerReferences: { kind: 1 } }, {}],
  ["an owner without names", { ownerReferences: [{ kind: 5 }] }, { owner: { kind: "", name: "" } }],
  [
    "labels that can't be fields together",
    { labels: { app: "web", "app.kubernetes.io/name": "shop", ["__proto__"]: "p", size: 5 } },
    { labels: { app: "web", "app_kubernetes_io/name": "shop", ["__proto__"]: "p" } },
  ],
] as const)
  test(`of a pod with ${what} the others are taken`, async (t) => {
    const { api } = await apiServer(t, [[200, { metadata }]]);
    api.fieldsOf(PATH);
    await answered(api);
    assert.deepEqual(api.fieldsOf(PATH), expected);
  });

test("few pods are requested at a time, and the files of others wait for theirs", async (t) => {
  const open: ServerResponse[] = [];
  const { api, asked } = await apiServer(t, [], (response) => void open.push(response));
  const paths = Array.from({ length: 40 }, (_, at) => PATH.replace("web-1", `web-${at}`));
  const wanted = (): string[] => {
    for (const path of paths) api.fieldsOf(path);
    return paths.filter((path) => api.awaits(path));
  };
  assert.equal(wanted().length, 40);
  while (open.length < 8) await turn();
  // Time for further requests to arrive.
  for (let turns = 0; turns < 1_000; turns++) await turn();
  assert.ok(open.length < 9, `${open.length} at once`);
  for (let answers = 0; answers < 40; answers++) {
    while (open.length === 0) {
      wanted();
      await turn();
    }
    assert.ok(asked.length - answers <= 8, `${asked.length - answers} at once`);
    open.shift()!.end(JSON.stringify(POD));
  }
  while (wanted().length > 0) await turn();
  assert.equal(asked.length, 40);
});

test("a file's name leads to no other request than that for a pod", async (t) => {
  const { api, asked } = await apiServer(t, []);
  for (const path of [
    `/var/log/containers/.._.._x-${"a".repeat(64)}.log`,
    `/var/log/containers/secrets_.._x-${"a".repeat(64)}.log`,
    "/var/log/pods/.._.._uid/x/0.log",
    "/var/log/pods/SHOP_web%2f1_uid/x/0.log",
    `/var/log/pods/shop_${"w".repeat(300)}_uid/x/0.log`,
  ]) {
    assert.deepEqual(api.fieldsOf(path), {}, path);
    assert.equal(api.awaits(path), false, path);
  }
  assert.equal(asked.length, 0);
});

test("a path without a pod causes no request", async (t) => {
  const { api, asked } = await apiServer(t, []);
  assert.deepEqual(api.fieldsOf("/var/log/app.log"), {});
  assert.equal(api.awaits("/var/log/app.log"), false);
  assert.equal(asked.length, 0);
});

test("the pod's environment has the address of the API", () => {
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const at = (KUBERNETES_SERVICE_HOST: string, KUBERNETES_SERVICE_PORT?: string) =>
    apiOfPod({ KUBERNETES_SERVICE_HOST, ...(KUBERNETES_SERVICE_PORT && { KUBERNETES_SERVICE_PORT }) });
  assert.deepEqual(at("10.0.0.1", "6443"), { address: "10.0.0.1:6443", account });
  assert.deepEqual(at("fd00::1"), { address: "[fd00::1]:443", account });
  assert.equal(apiOfPod({}), null);
});

test("kubernetes.api outside a pod is logged, and lines are read", async (t) => {
  const context = await testContext();
  t.after(() => context.dispose());
  const warned = t.mock.method(context.log, "warn");
  const settings = convert(containerInput.schema, {
    paths: [join(context.folder, "*.log")],
    "kubernetes.api": true,
  });
  const input = containerInput.create(settings as never, context);
  await input.start();
  await input.stop();
  assert.match(String(warned.mock.calls[0]?.arguments[0]), /kubernetes\.api is set, but this isn't a pod/);
});
