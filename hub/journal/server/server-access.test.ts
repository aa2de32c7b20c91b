import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import {
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  nkeys,
} from "@nats-io/transport-node";
import { Connection, HUB_USER } from "#hub/journal/connection/connection.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { agentPrefix, helloSubject, inboxPrefix, rawSubject } from "#proto/subjects.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { EmbeddedServer, ownTarget } from "./embedded-server.ts";
import type { ServerTls } from "./server-config.ts";

const OWN = "11111111-1111-4111-8111-111111111111";
const FOREIGN = "22222222-2222-4222-8222-222222222222";

/** A server that is stopped with the workspace, and the hub's own connection to it. */
async function started(workspace: Workspace, tls?: ServerTls): Promise<EmbeddedServer> {
  const server = new EmbeddedServer({
    dataDir: workspace.path("data"),
    host: "127.0.0.1",
    port: 0,
    log: silentLogger(),
    ...(tls !== undefined && { tls }),
  });
  await server.start();
  workspace.defer(() => server.stop());
  return server;
}

async function hubConnection(
  workspace: Workspace,
  server: EmbeddedServer,
  tls?: ServerTls,
): Promise<Connection> {
  const connection = new Connection({
    target: () => ownTarget(server, tls),
    name: "hub",
    log: silentLogger(),
  });
  await connection.start();
  workspace.defer(() => connection.stop());
  return connection;
}

function asAgent(
  url: string,
  seed: Uint8Array,
  options: NodeConnectionOptions = {},
): Promise<NatsConnection> {
  return connect({
    servers: url,
    authenticator: nkeyAuthenticator(seed),
    inboxPrefix: inboxPrefix(OWN),
    maxReconnectAttempts: 0,
    ...options,
  });
}

/** Returns whether NATS lets the agent subscribe to `subject`. */
async function maySubscribe(nats: NatsConnection, subject: string): Promise<boolean> {
  let refused = false;
  const subscription = nats.subscribe(subject, { callback: (error) => void (refused ||= error !== null) });
  await nats.flush();
  await nats.flush();
  subscription.unsubscribe();
  return !refused;
}

test("an agent with its own key may use its own subjects only, and loses them when it is revoked", async (t) => {
  const workspace = new Workspace(t);
  const server = await started(workspace);
  const hub = await hubConnection(workspace, server);
  const manager = await jetstreamManager(hub.nats);
  await manager.streams.add({ name: "RAW", subjects: ["raw.>"] });
  const pair = nkeys.createUser();
  await assert.rejects(asAgent(server.url, pair.getSeed()), /Authorization/i);

  server.setAgents([{ publicKey: pair.getPublicKey(), agentId: OWN }]);
  const agent = await until("the agent's key to be known", () =>
    asAgent(server.url, pair.getSeed()).catch(() => undefined),
  );
  workspace.defer(() => agent!.close());
  const stored = await agent!.request(rawSubject(7, OWN), "batch");
  assert.equal((stored.json() as { seq: number }).seq, 1);
  assert.equal(await maySubscribe(agent!, `${agentPrefix(OWN)}.watermark`), true);

  for (const subject of [
    rawSubject(7, FOREIGN),
    `${agentPrefix(FOREIGN)}.status`,
    "$JS.API.STREAM.NAMES",
    "$KV.auth.x",
  ])
    await assert.rejects(agent!.request(subject, "", { timeout: 200 }), subject);
  for (const subject of [">", "_INBOX.>", "agent.*.watermark", "$KV.>"])
    assert.equal(await maySubscribe(agent!, subject), false, subject);
  const state = await manager.streams.info("RAW");
  assert.equal(state.state.messages, 1);

  server.setAgents([]);
  await agent!.closed();
  await assert.rejects(asAgent(server.url, pair.getSeed()), /Authorization/i);
  await hub.whenConnected();
  assert.equal((await (await jetstreamManager(hub.nats)).streams.info("RAW")).state.messages, 1);
});

test("answers to an agent reach nothing of the hub's, whatever subject it wants them on", async (t) => {
  const workspace = new Workspace(t);
  const server = await started(workspace);
  const hub = await hubConnection(workspace, server);
  const manager = await jetstreamManager(hub.nats);
  await manager.streams.add({ name: "RAW", subjects: ["raw.>"] });
  await manager.streams.add({ name: "KV_auth", subjects: ["$KV.auth.>"] });
  await jetstream(hub.nats).publish("$KV.auth.account", "kept");
  const pair = nkeys.createUser();
  server.setAgents([{ publicKey: pair.getPublicKey(), agentId: OWN }]);
  const agent = (await until("the agent's key to be known", () =>
    asAgent(server.url, pair.getSeed()).catch(() => undefined),
  ))!;
  workspace.defer(() => agent.close());
  hub.nats.subscribe(helloSubject("*"), { callback: (_, message) => void message.respond("") });
  const targets = ["$KV.auth.account", "$JS.API.STREAM.PURGE.KV_auth", "$JS.API.STREAM.DELETE.KV_auth"];
  for (const reply of targets) {
    agent.publish(rawSubject(7, OWN), "batch", { reply });
    agent.publish(helloSubject(OWN), "", { reply });
  }
  // Both are answered after those.
  assert.equal((await agent.request(rawSubject(7, OWN), "last")).json<{ seq: number }>().seq, 4);
  assert.equal((await agent.request(helloSubject(OWN), "")).string(), "");
  const { state } = await manager.streams.info("KV_auth");
  assert.equal(state.messages, 1);
  const record = await manager.streams.getMessage("KV_auth", { last_by_subj: "$KV.auth.account" });
  assert.equal(record?.string(), "kept");
});

test("keys survive a server that dies", async (t) => {
  const workspace = new Workspace(t);
  const server = await started(workspace);
  const pair = nkeys.createUser();
  server.setAgents([{ publicKey: pair.getPublicKey(), agentId: OWN }]);
  const before = server.pid!;
  process.kill(before, "SIGKILL");
  const again = await until("the agent on the next server", () =>
    server.pid !== before ? asAgent(server.url, pair.getSeed()).catch(() => undefined) : undefined,
  );
  await again!.close();
});

test("with a certificate clients must speak TLS, and one that was exchanged is taken over without a restart", async (t) => {
  const workspace = new Workspace(t);
  const { folder } = workspace;
  const authority = makeAuthority(folder);
  const first = issueCertificate(folder, "first", authority, ["localhost"]);
  const second = issueCertificate(folder, "second", authority, ["localhost"]);
  const tls = { certFile: join(folder, "used.pem"), keyFile: join(folder, "used.key") };
  copyFileSync(first.certificate, tls.certFile);
  copyFileSync(first.key, tls.keyFile);
  const server = await started(workspace, tls);
  const hub = await hubConnection(workspace, server, tls);
  const ca = readFileSync(authority.certificate, "utf8");
  const options = { servers: server.url, user: HUB_USER, pass: server.token, maxReconnectAttempts: 0 };
  const client = await connect({ ...options, tls: { ca } });
  workspace.defer(() => client.close());
  await assert.rejects(connect(options), "an unknown authority");
  const strange = makeAuthority(folder, "strange");
  await assert.rejects(connect({ ...options, tls: { ca: readFileSync(strange.certificate, "utf8") } }));

  copyFileSync(second.certificate, tls.certFile);
  copyFileSync(second.key, tls.keyFile);
  const { pid } = server;
  server.reload();
  await until("the new certificate", async () => {
    // Only its own certificate is trusted.
    const only = { ca: readFileSync(second.certificate, "utf8"), allowPartialTrustChain: true };
    const next = await connect({ ...options, tls: only }).catch(() => undefined);
    await next?.close();
    return next !== undefined;
  });
  assert.equal(server.pid, pid);
  await client.flush();
  // The server lets go of its own user when it reads its settings again; the hub is back at once.
  await until("the hub", () =>
    hub.nats.flush().then(
      () => true,
      () => false,
    ),
  );
});
