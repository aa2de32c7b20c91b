/**
 * A single hub becomes the first of a cluster: its log moves from the single store of its nats-server into the cluster's
 * store, before any hub of the cluster opens a stream. The other hubs wait for it. Failure cases: docs/decisions/0016.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Auth } from "#hub/auth/auth.ts";
import { hasOwnStore, OWN_STORE } from "#hub/cluster/discovery/formation-file.ts";
import { CLUSTER_BUCKET, renameCluster } from "#hub/cluster/membership/cluster-identity.ts";
import { interruptedRepairs } from "#hub/journal/buckets/bucket-repair.ts";
import { Connection } from "#hub/journal/connection/connection.ts";
import type { JournalOptions } from "#hub/journal/journal.ts";
import { EmbeddedServer, ownTarget } from "#hub/journal/server/embedded-server.ts";
import { finishMove, isMoved, moveStreams, untilMoved } from "#hub/journal/streams/stream-move.ts";
import { AUTH_BUCKET } from "#hub/node/access/access.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Discovered } from "./discovery.ts";
import { openBucket } from "./state-session.ts";

/** The others wait this long for a hub that stores nothing; then they exit and are restarted. */
const STALLED_MS = 120_000;
const SECRET_FILE_MODE = 0o600;

export interface GrowthOptions {
  readonly settings: HubSettings;
  /** path.data, absolute. */
  readonly folder: string;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
}

type BringLog = NonNullable<JournalOptions["bringLog"]>;

/**
 * Returns the function that moves the log of a single hub into the cluster's store, or that waits for it; undefined if the
 * store gets no such log, or already has it. Valid after Discovery.untilFormed.
 */
export function growth(options: GrowthOptions, discovered: Discovered | undefined): BringLog | undefined {
  if (discovered?.discovery.isGrowing !== true) return undefined;
  const { folder, log } = options;
  if (hasOwnStore(folder))
    return (to, replicas, signal) => bring(options, discovered.vaultKey, to, replicas, signal);
  return async (to, _replicas, signal) => {
    log.info("waiting for the hub whose data the cluster takes over");
    await untilMoved(to, { clock: systemClock, signal, stalledMs: STALLED_MS });
  };
}

/** If the hub was killed after the end of the move, the move is found done; if before, it is repeated. */
async function bring(
  options: GrowthOptions,
  vaultKey: string,
  to: Connection,
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  if (await isMoved(to)) return;
  const { folder, log } = options;
  const lifecycle = new Lifecycle((part, error) => log.error({ err: error, part }, "a part did not stop"));
  try {
    const server = new EmbeddedServer({
      dataDir: join(folder, OWN_STORE, "server"), // is removed with the store
      storeDir: join(folder, OWN_STORE),
      host: "127.0.0.1",
      port: 0,
      log,
      env: options.env,
    });
    await lifecycle.start("nats-server of the single hub", server);
    const target = ownTarget(server, undefined);
    const from = new Connection({ name: "growth", log, clock: systemClock, target: () => target });
    await lifecycle.start("connection", from);
    const repairFolder = join(folder, "nats");
    for (const name of interruptedRepairs(repairFolder)) await openBucket(from, name, log, repairFolder);
    log.info("moving the log of this hub into the cluster's store; the other hubs wait for it");
    const progress = (stream: string, messages: number): void =>
      log.info({ stream, messages }, "a stream is in the cluster's store");
    await moveStreams({ from, to, replicas, signal, progress });
    await renameCluster(await openBucket(to, CLUSTER_BUCKET, log), options.settings["cluster.name"]);
    await sealForAll(options, vaultKey, to);
    await finishMove(to, replicas);
    log.info("the cluster has all data of this hub");
  } finally {
    await lifecycle.stop();
  }
}

/**
 * Seals secrets with the key that all hubs derive, so that every hub can open them. Keys of the environment or of the
 * settings are the same on all hubs anyway. The former keys stay in the file. Throws settings_invalid for missing or wrong
 * keys.
 */
async function sealForAll(
  { settings, folder, env, log }: GrowthOptions,
  vaultKey: string,
  to: Connection,
): Promise<void> {
  const path = join(folder, "vault.keys");
  const isGiven = (env["TAILRACE_VAULT_KEYS"] ?? "").trim() !== "" || settings["auth.vault.key_file"] !== "";
  const own = `cluster:${vaultKey}`;
  if (!isGiven && existsSync(path)) {
    const former = readFileSync(path, "utf8")
      .split(/\s+/)
      .filter((entry) => entry !== "" && entry !== own);
    writeFileAtomic(path, `${[own, ...former].join("\n")}\n`, SECRET_FILE_MODE);
  }
  const auth = await Auth.open({
    settings,
    dataPath: folder,
    bucket: await openBucket(to, AUTH_BUCKET, log),
    log,
    metrics: new Metrics(),
    audit: () => undefined,
    dashboardUrl: () => "",
    env,
  });
  await auth.connections.reseal();
}
