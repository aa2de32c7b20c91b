/**
 * Restarts a nats-server that runs but doesn't answer. A server may hang with its socket open (2.9 does after a full
 * disk), so JetStream is queried, not the socket.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { freeDiskBytes } from "#proto/kit/files/disk-space.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";

/** Default interval of the probes. */
const PROBE_EVERY_MS = 5_000;
/** Default time without an answer. A slow disk delays answers by seconds, a large store by tens of seconds. */
const UNRESPONSIVE_MS = 60_000;
/** Free space below which a restarted server couldn't write either. */
const LEAST_FREE_BYTES = 32 * MIB;

/** What is known of a server that didn't answer. */
export interface SilentServer {
  /** Its data is on the disk of this folder. */
  readonly folder: string;
  /** What it printed when it ended by a fault of its own; empty: it didn't. */
  readonly crash: string;
  readonly streamsFolder: string;
  /** Returns the free bytes of `folder`'s disk; replaced in tests. */
  readonly freeBytes?: (folder: string) => number;
}

/**
 * Returns `error`; if it says that a server didn't answer, disk_full where the disk is full, and data_corrupt where the server
 * crashed: 2.9 does when it reads a message whose length was damaged.
 */
export function whySilent(
  error: unknown,
  { folder, crash, streamsFolder, freeBytes = freeDiskBytes }: SilentServer,
): unknown {
  if (!(error instanceof AppError) || (error.code !== "timeout" && error.code !== "unavailable"))
    return error;
  const free = freeBytes(folder);
  if (free >= LEAST_FREE_BYTES)
    return crash === ""
      ? error
      : new AppError(
          "data_corrupt",
          `${error.message}, as nats-server crashed (${crash}): a file of the stream is probably damaged. Restore the data folder from a backup, or move the stream's folder away from ${streamsFolder} and start the hub again: what only that stream held is lost then`,
          { cause: error },
        );
  return new AppError(
    "disk_full",
    `nats-server doesn't answer, and the disk is full: ${folder} has ${Math.floor(free / MIB)} MiB left; free some space and start the hub again`,
    { cause: error },
  );
}

/** Times of the watchdog. */
export interface WatchdogTimes {
  readonly probeEveryMs?: number;
  readonly unresponsiveMs?: number;
}

export interface ServerWatchdogOptions extends WatchdogTimes {
  readonly server: {
    /** Undefined while no server runs. */
    readonly pid: number | undefined;
    /** Ends the server, which is then restarted. */
    replace(): Promise<void>;
  };
  /** Queries JetStream; rejects, within seconds, if it doesn't answer or stores nothing. */
  readonly probe: () => Promise<void>;
  /** Folder on the server's disk. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns the free bytes of `folder`'s disk; replaced in tests. */
  readonly freeBytes?: (folder: string) => number;
}

export class ServerWatchdog implements Component {
  readonly #options: ServerWatchdogOptions;
  readonly #task = new BackgroundTask();
  #answeredAtMs = 0;
  #pid: number | undefined;
  #waitsForSpace = false;

  constructor(options: ServerWatchdogOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, probeEveryMs = PROBE_EVERY_MS } = this.#options;
    this.#answeredAtMs = clock.monotonic();
    while (!signal.aborted) {
      await clock.sleep(probeEveryMs, signal);
      if (!signal.aborted) await this.#check(signal);
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { server, clock, log, probe } = this.#options;
    const { pid } = server;
    if (pid === undefined || pid !== this.#pid) {
      // A server that has just started reads its streams first.
      this.#pid = pid;
      this.#answered();
    }
    if (pid === undefined) return;
    try {
      await this.#answer(probe(), signal);
      this.#answered();
    } catch (error) {
      if (signal.aborted || server.pid !== pid) return;
      const silentMs = clock.monotonic() - this.#answeredAtMs;
      if (silentMs < (this.#options.unresponsiveMs ?? UNRESPONSIVE_MS)) return;
      if (!this.#hasSpace()) return;
      log.error(
        { err: error, pid, silentSeconds: Math.round(silentMs / 1_000) },
        "nats-server runs but JetStream does not answer; restarting it",
      );
      await server.replace();
    }
  }

  /** Settles like `answer`; rejects if `signal` is aborted or the server counts as unresponsive first. */
  async #answer(answer: Promise<void>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const waitMs = this.#options.unresponsiveMs ?? UNRESPONSIVE_MS;
    const late = this.#options.clock.sleep(waitMs, AbortSignal.any([signal, over.signal])).then(() => {
      throw new AppError("timeout", "JetStream does not answer");
    });
    try {
      await Promise.race([answer, late]);
    } finally {
      over.abort();
    }
  }

  #answered(): void {
    this.#answeredAtMs = this.#options.clock.monotonic();
    this.#waitsForSpace = false;
  }

  #hasSpace(): boolean {
    const { folder, log, freeBytes = freeDiskBytes } = this.#options;
    const free = freeBytes(folder);
    if (free >= LEAST_FREE_BYTES) return true;
    if (!this.#waitsForSpace) {
      this.#waitsForSpace = true;
      log.error({ folder, free }, "JetStream does not answer and the disk is full; free some disk space");
    }
    return false;
  }
}
