/**
 * A file that reserves some disk space until the hub stops. On a full disk it is removed at a stop, so that the shards can
 * commit what they have indexed and nats-server can store its state. The file is written only when the disk runs short: on a
 * disk with much free space it would protect nothing.
 */

import { randomFillSync } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { freeDiskBytes } from "#proto/kit/files/disk-space.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";

const FILE = "reserve";
/** Enough for what shards have indexed but not committed (32 MB of messages), packed, and for the state of nats-server. */
const RESERVE_BYTES = 32 * MIB;
/** The file is written below this much free space. Only writes of 400 MB/s could fill the disk from here between two checks. */
const SHORT_BYTES = 2_048 * MIB;
/** With less free space the disk counts as full. */
const FULL_BYTES = 16 * MIB;
const CHECK_EVERY_MS = 5_000;

export interface DiskReserveOptions {
  /** The hub's data folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Returns the free bytes of `folder`'s disk; replaced in tests. */
  readonly freeBytes?: (folder: string) => number;
}

export class DiskReserve implements Component {
  readonly #options: DiskReserveOptions;
  readonly #task = new BackgroundTask();

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    const help = "Size of the file that keeps disk space for an orderly stop; 0 while the disk has enough";
    options.metrics.gauge("tailrace_hub_disk_reserve_bytes", help, [], (gauge) =>
      gauge.set(sizeOf(options.folder)),
    );
  }

  /** Doesn't wait for the file. */
  start(): Promise<void> {
    this.#task.repeat(this.#options.clock, CHECK_EVERY_MS, (signal) => this.#check(signal));
    return Promise.resolve();
  }

  /** Doesn't remove the file. */
  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Writes the file if the disk runs short but isn't yet so full that the hub needs the remaining space. */
  async #check(signal: AbortSignal): Promise<void> {
    const { folder, freeBytes = freeDiskBytes } = this.#options;
    try {
      const free = freeBytes(folder);
      if (free >= SHORT_BYTES || free < 2 * RESERVE_BYTES || sizeOf(folder) === RESERVE_BYTES) return;
      await writeReserve(folder, signal);
    } catch (error) {
      rmSync(join(folder, FILE), { force: true });
      if (!signal.aborted)
        this.#options.log.warn({ err: toAppError(error) }, "the reserve of disk space cannot be written");
    }
  }
}

/** Removes the reserve if the disk of `folder` is full; returns whether it did. */
export function giveUpReserve(folder: string, freeBytes = freeDiskBytes): boolean {
  if (sizeOf(folder) === 0 || freeBytes(folder) >= FULL_BYTES) return false;
  rmSync(join(folder, FILE), { force: true });
  return true;
}

/** Random bytes, because some file systems store repeated ones in almost no space. */
async function writeReserve(folder: string, signal: AbortSignal): Promise<void> {
  const chunk = randomFillSync(Buffer.alloc(MIB));
  const file = await open(join(folder, FILE), "w", 0o600);
  try {
    for (let written = 0; written < RESERVE_BYTES; written += MIB) {
      signal.throwIfAborted();
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
}

function sizeOf(folder: string): number {
  return statSync(join(folder, FILE), { throwIfNoEntry: false })?.size ?? 0;
}
