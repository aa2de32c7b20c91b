/**
 * Notifies systemd that a service starts, is ready, stops, and still works (sd_notify(3)). Node has no datagram
 * sockets of the file system, so systemd's own systemd-notify sends; the unit needs NotifyAccess=all for it.
 * Does nothing outside of a service with notifications.
 */

import { execFile } from "node:child_process";
import type { Logger } from "#proto/kit/log.ts";

export interface ServiceManagerOptions {
  /** NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID as systemd sets them, and PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

const PROGRAM = "systemd-notify";
/** It answers within milliseconds; a machine that is short of everything gets more. */
const SEND_TIMEOUT_MS = 5_000;
/** systemd advises half of the watchdog's time (sd_watchdog_enabled(3)). */
const PINGS_PER_DEADLINE = 2;
const SHORTEST_PING_MS = 500;
/** A start that takes long is extended at this interval, each time by twice as much. */
const EXTENDED_EVERY_MS = 60_000;
const EXTENSION = `EXTEND_TIMEOUT_USEC=${2 * EXTENDED_EVERY_MS * 1_000}`;

export class ServiceManager {
  readonly #options: ServiceManagerOptions;
  readonly #active: boolean;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
    this.#active = (options.env["NOTIFY_SOCKET"] ?? "") !== "";
  }

  /**
   * The service starts: its unit's TimeoutStartSec is extended as long as the event loop turns, since copying shards or a
   * log can take hours. What a start waits for has time limits of its own.
   */
  starting(): void {
    if (!this.#active) return;
    this.#timer = setInterval(() => this.#repeat(EXTENSION), EXTENDED_EVERY_MS);
    this.#timer.unref();
  }

  /** The service works. From here on the process notifies the unit's watchdog, if there is one. */
  ready(): void {
    clearInterval(this.#timer);
    this.#send("READY=1");
    const everyMs = this.#pingEveryMs();
    if (everyMs === undefined) return;
    this.#timer = setInterval(() => this.#repeat("WATCHDOG=1"), everyMs);
    this.#timer.unref();
  }

  /** The service has begun to stop; the watchdog is still notified until `stop`. */
  stopping(): void {
    this.#send("STOPPING=1");
  }

  /** Ends the repeated messages; resolves when the last message is sent. Safe without a start, and twice. */
  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.flushed();
  }

  /** Resolves when all notifications so far are sent. */
  flushed(): Promise<void> {
    return this.#sending;
  }

  /** Undefined where the unit has no watchdog, or has it for another process. */
  #pingEveryMs(): number | undefined {
    const { WATCHDOG_USEC: time = "", WATCHDOG_PID: pid = "" } = this.#options.env;
    const deadlineMs = Number(time) / 1_000;
    if (!this.#active || !(deadlineMs > 0) || (pid !== "" && Number(pid) !== process.pid)) return undefined;
    return Math.max(SHORTEST_PING_MS, deadlineMs / PINGS_PER_DEADLINE);
  }

  /** One pending message is enough: a second has the same content. */
  #repeat(message: string): void {
    if (this.#waiting === 0) this.#send(message);
  }

  /** Messages go out one after the other, so that STOPPING can't overtake READY. */
  #send(message: string): void {
    if (!this.#active) return;
    this.#waiting++;
    this.#sending = this.#sending.then(() => this.#run(message)).finally(() => this.#waiting--);
  }

  /** Never fails: a service runs without its manager too. */
  #run(message: string): Promise<void> {
    const { env, log } = this.#options;
    return new Promise((resolve) => {
      execFile(PROGRAM, [message], { env, timeout: SEND_TIMEOUT_MS }, (error) => {
        if (error !== null)
          log.warn(
            { err: error },
            `systemd was not notified of ${message}; is ${PROGRAM} installed and on PATH?`,
          );
        resolve();
      });
    });
  }
}
