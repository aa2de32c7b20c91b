/** Work that one hub of the cluster does for all: it starts when the hub takes the lease, and stops when it loses the lease. */

import { acquireLease, type HeldLease } from "#hub/journal/buckets/lease.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { MEMBER_LEASE_MS } from "./member-record.ts";

/** Key of the lease in the bucket `nodes`. */
export const DUTIES_KEY = "duties";

const RETRY_MS = 1_000;

export interface DutiesOptions {
  readonly bucket: StateBucket;
  /** Id of this hub, and a random name of the process. */
  readonly node: string;
  readonly process: string;
  /**
   * Returns the parts that do the work, in the order of their start. Called each time the lease is taken; a returned part
   * may be one that was stopped before, and is started again.
   */
  readonly parts: () => readonly (readonly [name: string, part: Component])[];
  readonly durationMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Duties implements Component {
  readonly #options: DutiesOptions;
  readonly #task = new BackgroundTask();
  #lease: HeldLease | undefined;

  constructor(options: DutiesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** True while this hub holds the lease. */
  get held(): boolean {
    return this.#lease?.isValid === true;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#hold(await this.#acquire());
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: toAppError(error) }, "the work of one hub for all can't be done for now");
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }

  #acquire(): Promise<HeldLease> {
    const { bucket, node, process, durationMs = MEMBER_LEASE_MS, clock, log } = this.#options;
    const isDead = (owner: string): boolean => ownerId(owner) === node;
    const owner = `${node}/${process}`;
    return acquireLease(
      { bucket, key: DUTIES_KEY, owner, isDead, durationMs, clock, log },
      this.#task.signal,
    );
  }

  async #hold(lease: HeldLease): Promise<void> {
    const { log, parts } = this.#options;
    const lifecycle = new Lifecycle((part, error) => log.error({ err: error, part }, "a part did not stop"));
    this.#lease = lease;
    try {
      for (const [name, part] of parts()) await lifecycle.start(name, part);
      await ended(AbortSignal.any([lease.lost, this.#task.signal]));
    } finally {
      await lifecycle.stop();
      await lease.release();
      this.#lease = undefined;
    }
  }
}

/** Returns the id of the hub that holds the lease, from the stored value; undefined if none does. */
export function dutyHolder(value: Uint8Array | undefined): string | undefined {
  if (value === undefined) return undefined;
  const { owner } = JSON.parse(Buffer.from(value).toString()) as { owner: string };
  return owner === "" ? undefined : ownerId(owner);
}

function ownerId(owner: string): string {
  return owner.slice(0, owner.indexOf("/"));
}

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
