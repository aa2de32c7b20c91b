/**
 * Follows the table of partitions: releases what this hub has lost, reports that, and takes what it has gained once every
 * other member of the table has released too. So a partition has at most one owner, except for a hub that paused beyond its
 * lease: the cursors fence that one.
 */

import type { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import type { Membership } from "#hub/cluster/membership/membership.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import {
  decodeTable,
  NO_TABLE,
  PARTITIONS_KEY,
  type PartitionTable,
  partitionsOf,
} from "./partition-table.ts";

/** How often the state is checked without a change. */
const TICK_MS = 1_000;

/** The part that processes partitions. */
export interface PartitionRunner {
  /** Processes these partitions and no others; resolves when the cursors of those given up are stored. */
  assign(partitions: ReadonlySet<number>): Promise<void>;
  /** Stops writing at once because others may have taken over; `assign` follows. */
  abandon(): void;
}

export interface OwnerOptions {
  readonly directory: MemberDirectory;
  readonly membership: Pick<Membership, "id" | "session" | "isValid" | "onChange" | "report" | "accept">;
  readonly clock: Clock;
  readonly log: Logger;
}

const NONE: ReadonlySet<number> = new Set();

export class PartitionOwner implements Component {
  readonly #options: OwnerOptions;
  readonly #task = new BackgroundTask();
  #runner: PartitionRunner | undefined;
  #owned: ReadonlySet<number> = NONE;
  /** True after the membership was interrupted: the running work was abandoned. */
  #lapsed = false;
  #adopted = -1;
  #active = -1;
  #session = "";
  #wake = new AbortController();

  constructor(options: OwnerOptions) {
    this.#options = options;
    const wake = (): void => this.#wake.abort();
    options.directory.onChange(wake);
    options.membership.onChange(() => {
      if (!options.membership.isValid) {
        this.#lapsed = true;
        this.#runner?.abandon();
      }
      wake();
    });
  }

  /** Partitions that this hub processes. */
  get owned(): ReadonlySet<number> {
    return this.#owned;
  }

  /** Gives the partitions to `runner` from now on. */
  use(runner: PartitionRunner): void {
    this.#runner = runner;
  }

  /** Publishes that this hub takes partitions, which are then assigned. */
  async start(): Promise<void> {
    await this.#try();
    this.#task.start((signal) => this.#run(signal));
  }

  /** Stops following the table; the runner must be stopped next. */
  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** This hub's view of the table. */
  table(): PartitionTable {
    const shared = this.#options.directory.shared(PARTITIONS_KEY);
    return shared === undefined ? NO_TABLE : decodeTable(shared.value);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, AbortSignal.any([signal, this.#wake.signal]));
      this.#wake = new AbortController();
      if (!signal.aborted) await this.#try();
    }
  }

  async #try(): Promise<void> {
    try {
      await this.#follow();
    } catch (error) {
      this.#options.log.warn({ err: toAppError(error) }, "the table of partitions can't be followed for now");
    }
  }

  async #follow(): Promise<void> {
    const { membership } = this.#options;
    if (this.#lapsed) await this.#beginAnew();
    if (!membership.isValid) return;
    await membership.accept(true);
    if (membership.session !== this.#session) {
      // A hub that considered this one dead has reassigned its partitions.
      [this.#session, this.#adopted, this.#active] = [membership.session, -1, -1];
    }
    const table = this.table();
    const wanted = partitionsOf(table, membership);
    await this.#change(this.#owned.intersection(wanted));
    await this.#report(table.epoch, this.#active);
    if (!this.#othersReleased(table)) return;
    await this.#change(wanted);
    await this.#report(table.epoch, table.epoch);
  }

  /** Ends the abandoned work. */
  async #beginAnew(): Promise<void> {
    this.#lapsed = false; // a further interruption sets it again
    try {
      await this.#change(NONE);
    } catch (error) {
      this.#lapsed = true;
      throw error;
    }
  }

  async #change(partitions: ReadonlySet<number>): Promise<void> {
    if (partitions.size === this.#owned.size && partitions.isSubsetOf(this.#owned)) return;
    await this.#runner?.assign(partitions);
    this.#owned = partitions;
  }

  async #report(adopted: number, active: number): Promise<void> {
    if (adopted === this.#adopted && active === this.#active) return;
    await this.#options.membership.report({ adopted, active });
    [this.#adopted, this.#active] = [adopted, active];
  }

  #othersReleased(table: PartitionTable): boolean {
    const { directory, membership } = this.#options;
    return table.members.every(({ id, session }) => {
      if (id === membership.id) return true;
      const other = directory.get(id)?.record;
      // A member that left has released before; one that is lost or joined again runs nothing of an earlier session.
      if (other === undefined || other.state === "lost" || other.session !== session) return true;
      return other.adopted >= table.epoch;
    });
  }
}
