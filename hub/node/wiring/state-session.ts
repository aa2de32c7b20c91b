/**
 * Access to the hub's state for commands: through the running hub's nats-server, or one started for the duration of
 * the command.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasClusterStore } from "#hub/cluster/discovery/formation-file.ts";
import { NatsBucket } from "#hub/journal/buckets/nats-bucket.ts";
import { Connection, type NatsTarget } from "#hub/journal/connection/connection.ts";
import { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import { Publisher } from "#hub/journal/connection/publisher.ts";
import { EmbeddedServer, ownTarget } from "#hub/journal/server/embedded-server.ts";
import { StreamStore } from "#hub/journal/streams/stream-store.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import { openDataFolder } from "#proto/kit/files/data-folder.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { asOwnerOf, checkFolderOwner } from "#proto/kit/files/folder-owner.ts";
import { Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { serverTls } from "./journal-adapters.ts";

/** Calls `use` with a connection to the hub's log and, where nobody else uses it, the folder to repair buckets in. Throws unavailable, nats_missing, file_unreadable … with nothing left running. */
export async function withConnection<T>(
  settings: HubSettings,
  log: Logger,
  use: (connection: Connection, repairFolder: string | undefined) => Promise<T>,
): Promise<T> {
  const lifecycle = new Lifecycle((part, error) => log.error({ err: error, part }, "a part did not stop"));
  try {
    const { target, repairFolder } = await reachNats(settings, log, lifecycle);
    return await use(await connect(target, log, lifecycle), repairFolder);
  } finally {
    await lifecycle.stop();
  }
}

/** Calls `use` with the bucket `name`. Throws unavailable, nats_missing, file_unreadable … with nothing left running. */
export async function withState<T>(
  settings: HubSettings,
  log: Logger,
  name: string,
  use: (bucket: StateBucket) => Promise<T>,
): Promise<T> {
  return withConnection(settings, log, async (connection, repairFolder) =>
    use(await openBucket(connection, name, log, repairFolder)),
  );
}

/** Returns an external NATS, the running hub's, or one that runs as long as `lifecycle`. */
async function reachNats(
  settings: HubSettings,
  log: Logger,
  lifecycle: Lifecycle,
): Promise<{ readonly target: NatsTarget; readonly repairFolder?: string }> {
  const servers = settings["nats.servers"];
  const token = settings["nats.token"];
  if (servers.length > 0) return { target: { servers, ...(token !== "" && { token }) } };
  const folder = resolve(settings["path.data"]);
  if (!FolderLock.isHeld(folder, "hub")) checkFolderOwner(folder, "tailrace-hub");
  if (!existsSync(folder)) openDataFolder(folder, 0);
  const lock = lockUnlessRunning(folder);
  if (lock === undefined) return { target: ownTarget(runningServer(folder), serverTls(settings)) };
  if (hasClusterStore(folder) || settings["discovery.seed_hosts"].length > 0) {
    lock.release();
    throw new AppError(
      "unavailable",
      `the hub on ${folder} stores its log together with others, and isn't running: start it, or run the command on the machine of one that runs`,
    );
  }
  await lifecycle.start("lock", { start: () => Promise.resolve(), stop: async () => lock.release() });
  const server = new EmbeddedServer({ dataDir: folder, host: "127.0.0.1", port: 0, log });
  await lifecycle.start("nats-server", server);
  return { target: ownTarget(server, undefined), repairFolder: join(folder, "nats") };
}

/** Locks the folder as a hub does, so that no hub starts meanwhile; undefined if one is running. */
function lockUnlessRunning(folder: string): FolderLock | undefined {
  try {
    return FolderLock.acquire(folder, "hub");
  } catch (error) {
    if (toAppError(error).code === "data_locked") return undefined;
    throw unreadable(folder, folder, error);
  }
}

/** Returns the address of the nats-server of the hub on `folder`, from its ports file. */
function runningServer(folder: string): { readonly url: string; readonly token: string } {
  const nats = join(folder, "nats");
  try {
    const token = readFileSync(join(nats, "token"), "utf8").trim();
    const ports = readdirSync(join(nats, "ports")).find((file) => file.endsWith(".ports"));
    if (ports === undefined) throw new AppError("unavailable", `the hub on ${folder} is starting; try again`);
    const { nats: urls } = JSON.parse(readFileSync(join(nats, "ports", ports), "utf8")) as { nats: string[] };
    return { url: urls[0] ?? "", token };
  } catch (error) {
    throw unreadable(nats, folder, error);
  }
}

async function connect(target: NatsTarget, log: Logger, lifecycle: Lifecycle): Promise<Connection> {
  const connection = new Connection({
    name: "tailrace-hub command",
    log,
    clock: systemClock,
    target: () => target,
  });
  await lifecycle.start("connection", connection);
  return connection;
}

/** Opens the bucket `name`, made with one replica if missing; `repairFolder` as in NatsBucket. Throws unavailable or timeout. */
export function openBucket(
  connection: Connection,
  name: string,
  log: Logger,
  repairFolder?: string,
): Promise<StateBucket> {
  const metrics = new JournalMetrics(new Metrics());
  const publisher = new Publisher({ connection, metrics, clock: systemClock, onFull: () => undefined });
  const streams = new StreamStore(connection);
  return NatsBucket.open({
    name,
    connection,
    publisher,
    streams,
    clock: systemClock,
    log,
    replicas: () => 1,
    ...(repairFolder !== undefined && { repairFolder }),
  });
}

/**
 * Returns an error with the remedy if this user may not read `path` in the data folder `folder`; otherwise `error`
 * itself.
 */
function unreadable(path: string, folder: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code !== "EACCES" && code !== "EPERM") return error;
  const remedy = asOwnerOf(folder, "tailrace-hub");
  return new AppError("file_unreadable", `this user may not read ${path}; ${remedy}`, { cause: error });
}
