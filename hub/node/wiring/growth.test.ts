import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Auth } from "#hub/auth/auth.ts";
import { clusterCredentials } from "#hub/cluster/discovery/cluster-credentials.ts";
import { CLUSTER_BUCKET, openIdentity } from "#hub/cluster/membership/cluster-identity.ts";
import { Connection } from "#hub/journal/connection/connection.ts";
import { Journal } from "#hub/journal/journal.ts";
import { EmbeddedServer, ownTarget } from "#hub/journal/server/embedded-server.ts";
import { isMoved } from "#hub/journal/streams/stream-move.ts";
import { AUTH_BUCKET } from "#hub/node/access/access.ts";
import { type HubSettings, loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { MIB } from "#proto/kit/units.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import type { Discovered } from "./discovery.ts";
import { growth } from "./growth.ts";
import { openBucket } from "./state-session.ts";

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS };
const SIGNAL = new AbortController().signal;
const { vaultKey } = clusterCredentials("0123456789abcdef0123456789abcdef");
const DISCOVERED = { discovery: { isGrowing: true }, vaultKey } as unknown as Discovered;
const log = silentLogger();

function openAuth(
  settings: HubSettings,
  bucket: StateBucket,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Auth> {
  const others = { log, metrics: new Metrics(), audit: () => undefined, dashboardUrl: () => "" };
  return Auth.open({ settings, dataPath: folder, bucket, env, ...others });
}

/** Leaves a data folder as a single hub does that was stopped; returns a key that its vault has sealed. */
async function makeSingle(folder: string, settings: HubSettings): Promise<Uint8Array> {
  const place = { dataDir: folder, host: "127.0.0.1", port: 0, name: "hub-1", maxBytes: 64 * MIB };
  const journal = new Journal({ ...place, log, metrics: new Metrics() });
  await journal.start();
  try {
    const names = { clusterName: "alone", nodeName: "hub-1", mayRename: true, store: "" };
    await openIdentity({ bucket: await journal.bucket(CLUSTER_BUCKET), folder, ...names });
    return (await openAuth(settings, await journal.bucket(AUTH_BUCKET), folder, {})).formKey;
  } finally {
    await journal.stop();
  }
}

async function openStore(t: TestContext, dataDir: string): Promise<Connection> {
  const env = { TAILRACE_NATS_SERVER: program };
  const server = new EmbeddedServer({ dataDir, host: "127.0.0.1", port: 0, log, env });
  await server.start();
  const connection = new Connection({ name: "to", log, target: () => ownTarget(server, undefined) });
  await connection.start();
  t.after(async () => {
    await connection.stop();
    await server.stop();
  });
  return connection;
}

test(
  "a hub that has only cluster.secret opens what the single hub has sealed, and the cluster has its name",
  options,
  async (t) => {
    const root = temporaryFolder(t);
    const [folder, shared, fresh] = ["single", "shared", "fresh"].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [folder, shared, fresh]) mkdirSync(each);
    const settings = loadHubSettings(
      { file: undefined, overrides: ["cluster.name=tailrace", "auth.mode=required"] },
      {},
    );
    const formKey = await makeSingle(folder, settings);
    const to = await openStore(t, shared);
    const given = { settings, folder, log, env: process.env };
    await growth(given, DISCOVERED)!(to, 1, SIGNAL);
    const env = { TAILRACE_VAULT_KEYS: `cluster:${vaultKey}` };
    const bucket = await openBucket(to, AUTH_BUCKET, log);
    assert.deepEqual((await openAuth(settings, bucket, fresh, env)).formKey, formKey);
    const names = { clusterName: "tailrace", nodeName: "hub-2", mayRename: false, store: "" };
    const other = await openIdentity({
      bucket: await openBucket(to, CLUSTER_BUCKET, log),
      folder: fresh,
      ...names,
    });
    assert.equal(other.founder, "hub-1");
    const [first, former = ""] = readFileSync(join(folder, "vault.keys"), "utf8").split("\n");
    assert.equal(first, `cluster:${vaultKey}`);
    assert.notEqual(former, "", "the former key is kept");

    await bucket.put("later", Buffer.from("kept"));
    await growth(given, DISCOVERED)!(to, 1, SIGNAL);
    assert.equal(
      Buffer.from((await bucket.get("later"))!.value).toString(),
      "kept",
      "a finished move isn't repeated",
    );
  },
);

test("a move that was stopped on the way begins anew, and ends its nats-server", options, async (t) => {
  const root = temporaryFolder(t);
  const [folder, shared] = ["single", "shared"].map((name) => join(root, name)) as [string, string];
  for (const each of [folder, shared]) mkdirSync(each);
  const settings = loadHubSettings({ file: undefined, overrides: [] }, {});
  await makeSingle(folder, settings);
  const to = await openStore(t, shared);
  const given = { settings, folder, log, env: process.env };
  await assert.rejects(growth(given, DISCOVERED)!(to, 1, AbortSignal.abort(new Error("stopped"))), /stopped/);
  assert.equal(await isMoved(to), false);
  await growth(given, DISCOVERED)!(to, 1, SIGNAL);
  assert.equal(await isMoved(to), true);
});

test("a hub of a store that grows from none brings nothing", () => {
  const given = {
    settings: loadHubSettings({ file: undefined, overrides: [] }, {}),
    folder: "/",
    log,
    env: {},
  };
  assert.equal(growth(given, undefined), undefined);
  const formed = { ...DISCOVERED, discovery: { isGrowing: false } } as unknown as Discovered;
  assert.equal(growth(given, formed), undefined);
});
