import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { EmbeddedServer, ownTarget } from "./embedded-server.ts";
import { isPeerUp } from "./remove-peer.ts";

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS };

test("a server of the cluster is up until it stops", options, async (t) => {
  const workspace = new Workspace(t);
  const folder = workspace.path();
  const authority = makeAuthority(folder);
  const { certificate, key } = issueCertificate(folder, "hubs", authority, ["127.0.0.1"]);
  const tls = { caFile: authority.certificate, certFile: certificate, keyFile: key };
  const env = { TAILRACE_NATS_SERVER: program };
  const ports = await freePorts(2);
  const host = "127.0.0.1";
  const routes = (): string[] => ports.map((port) => `${host}:${port}`);
  const [first, second] = ports.map((port, at) => {
    const [serverName, token] = [`hub-${at + 1}`, "a token of all hubs"];
    const dataDir = workspace.path(serverName);
    const store = { storeDir: workspace.path(`store-${at}`), clusterName: "test", token };
    const cluster = { ...store, serverName, host, port, routes, tls };
    return new EmbeddedServer({ dataDir, host, port: 0, log: silentLogger(), cluster, env });
  }) as [EmbeddedServer, EmbeddedServer];
  for (const server of [first, second]) workspace.defer(() => server.stop());
  await Promise.all([first.start(), second.start()]);
  const target = ownTarget(first, undefined);
  await until("the other server's answer", () => isPeerUp(target, "hub-2"));
  assert.equal(await isPeerUp(target, "hub-1"), true);
  assert.equal(await isPeerUp(target, "hub"), false);
  await second.stop();
  assert.equal(await isPeerUp(target, "hub-2"), false);
});
