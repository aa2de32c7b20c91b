import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { type Logger, silentLogger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { EmbeddedServer, ownTarget } from "./embedded-server.ts";
import { isPeerUp, JournalServer } from "./journal-server.ts";

/** Checks an external NATS of this version; returns the warnings. */
function check(version: string, cluster?: string, max_payload = 8 * MIB): unknown[] {
  const warnings: unknown[] = [];
  const log = Object.assign(Object.create(silentLogger()) as Logger, {
    warn: (...given: unknown[]) => void warnings.push(given),
  });
  const external = { servers: ["nats://log-1:4222"] };
  const server = new JournalServer({ dataDir: "", host: "", port: 0, external, log }, () => undefined);
  server.check({
    nats: { info: { version, cluster, jetstream: true, max_payload } },
  } as unknown as Connection);
  return warnings;
}

test("servers of an external cluster that can lose a stream bring a warning, and the hub starts", () => {
  const [warning] = check("2.9.25", "nats");
  assert.match(JSON.stringify(warning), /nats:\/\/log-1:4222.*2\.9\.25.*upgrade them/);
  assert.deepEqual([check("2.10.23", "nats"), check("2.9.25")], [[], []]);
});

test("an external server that the log can't work with is refused", () => {
  for (const version of ["2.9.9", "2.10.22"])
    assert.throws(() => check(version, "nats"), { code: "nats_refused" }, version);
});

test("an external server must accept messages of 1 MiB, and one that refuses 8 MiB brings a warning", () => {
  assert.throws(() => check("2.10.27", undefined, MIB - 1), {
    code: "nats_refused",
    message: /max_payload: 8388608/,
  });
  assert.match(
    JSON.stringify(check("2.10.27", undefined, MIB)),
    /1048576 bytes only: set max_payload: 8388608/,
  );
});

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
