/**
 * Before a hub opens its copies, replaces them with another hub's if they lack messages that the log has purged, or if it
 * has none yet.
 */

import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { fetchCopy } from "#hub/cluster/recovery/copy-fetch.ts";
import { committedPosition } from "#hub/cluster/shards/position-files.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import { syncFolder } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import type { ClusterNode } from "./cluster.ts";
import { INCOMPLETE } from "./shard-log.ts";

/** How long a hub looks for another one to copy from: all may be starting. */
const LOOK_MS = 120_000;
const PAUSE_MS = 1_000;
/** Interval of progress lines in the log. */
const PROGRESS_MS = 5_000;

export interface HealingOptions {
  readonly hosts: Pick<HostThreads, "whileEnded">;
  readonly catalog: Pick<IndexCatalog, "all">;
  readonly journal: Pick<Journal, "isPurgedAfter"> & { readonly core: HubTransport };
  readonly cluster: Pick<ClusterNode, "peers" | "hasOthers">;
  /** path.data, absolute. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the hub stops. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when the log has everything that the shards below `folder` lack. Throws unavailable if no other hub could be
 * copied from in time, disk_full, cancelled.
 */
export async function healCopies(options: HealingOptions): Promise<void> {
  const { hosts, catalog, journal, cluster, folder, log } = options;
  if (catalog.all().length === 0) return;
  const position = committedPosition(join(folder, "engine"), log);
  const copy = join(folder, "engine-copy");
  if (!(await journal.isPurgedAfter(DOC_STREAM, position))) {
    // Left by a hub that was killed while it copied.
    for (const left of [copy, replacedIn(folder)]) rmSync(left, { recursive: true, force: true });
    return;
  }
  // A single hub continues with its own copies. Other hubs that were stopped may start a little later.
  if (!(await cluster.hasOthers())) return;
  log.warn(
    { position },
    "this hub's copies lack documents that the log has purged; they are copied from another hub",
  );
  await fetchFromAny(options, copy);
  await hosts.whileEnded(async () => takeOver(folder, copy));
  log.info("the copies are complete; later changes are read from the log");
}

async function fetchFromAny(options: HealingOptions, into: string): Promise<void> {
  const { journal, cluster, clock, log, signal } = options;
  const lastMs = clock.monotonic() + LOOK_MS;
  let why: unknown;
  while (clock.monotonic() < lastMs && !signal.aborted) {
    for (const node of await cluster.peers()) {
      try {
        rmSync(into, { recursive: true, force: true });
        const progress = progressLines(options, node);
        await fetchCopy({ transport: journal.core, node, into, signal, progress });
        return;
      } catch (error) {
        why = error;
        rmSync(into, { recursive: true, force: true });
        if (systemCode(error) === "ENOSPC")
          throw new AppError(
            "disk_full",
            `the disk of ${into} is full: free some space, and start this hub again`,
            {
              cause: error,
            },
          );
        const { code } = toAppError(error);
        if (code === "disk_full" || code === "cancelled") throw error;
        log.debug({ err: error, node }, "a hub can't be copied from now");
      }
    }
    await clock.sleep(PAUSE_MS, signal);
  }
  signal.throwIfAborted();
  throw new AppError("unavailable", INCOMPLETE, { cause: why });
}

function progressLines({ clock, log }: HealingOptions, node: string): (bytes: number, total: number) => void {
  let lastMs = clock.monotonic();
  return (bytes, total) => {
    if (clock.monotonic() - lastMs < PROGRESS_MS && bytes < total) return;
    lastMs = clock.monotonic();
    log.info({ node, bytes, total }, "copying the shards of another hub");
  };
}

/** A crash in between leaves either no shards or the copy as the shards: the next start continues from that state. */
function takeOver(folder: string, copy: string): void {
  const [engine, replaced] = [join(folder, "engine"), replacedIn(folder)];
  rmSync(replaced, { recursive: true, force: true });
  renameSync(engine, replaced);
  renameSync(copy, engine);
  syncFolder(folder);
  rmSync(replaced, { recursive: true, force: true });
}

function replacedIn(folder: string): string {
  return join(folder, "engine-replaced");
}
