/** The duty of the hub that holds the lease: marks members as lost, and makes the table of partitions. */

import { AwayTimes, COPY_WAIT_MS } from "#hub/cluster/membership/cluster-progress.ts";
import type { MemberDirectory, ObservedMember } from "#hub/cluster/membership/member-directory.ts";
import { encodeMember, isUnread, memberKey, takesPartitions } from "#hub/cluster/membership/member-record.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import {
  decodeTable,
  encodeTable,
  isTableOf,
  NO_TABLE,
  nextTable,
  PARTITIONS_KEY,
  type PartitionTable,
} from "./partition-table.ts";

const TICK_MS = 500;
/**
 * For this long after a loss a hub that joins gets no partitions: those that moved are just being read by their new
 * hubs, and would pause twice if some moved again at once.
 */
const SETTLE_MS = 5_000;
/**
 * The health report names a lost member for this long, by the wall clock, as the hub with this duty changes; then it is
 * forgotten. A clock that is set forward must not end the time for which the log waits for that member.
 */
const FORGET_AFTER_MS = 7 * DAY_MS;

export interface AllocatorOptions {
  readonly bucket: StateBucket;
  readonly directory: MemberDirectory;
  /** Returns whether this hub holds the lease. */
  readonly isHeld: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export class PartitionAllocator implements Component {
  readonly #options: AllocatorOptions;
  readonly #task = new BackgroundTask();
  readonly #away: AwayTimes;
  /** When this hub marked a member as lost the last time, by its monotonic clock. */
  #lostAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: AllocatorOptions) {
    this.#options = options;
    this.#away = new AwayTimes(options.clock);
  }

  /** Makes a table at once if none fits. */
  async start(): Promise<void> {
    await this.#try();
    this.#task.start((signal) => this.#run(signal));
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, directory } = this.#options;
    while (!signal.aborted) {
      const changed = new AbortController();
      const unwatch = directory.onChange(() => changed.abort());
      await clock.sleep(TICK_MS, AbortSignal.any([signal, changed.signal]));
      unwatch();
      if (!signal.aborted) await this.#try();
    }
  }

  async #try(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      const failure = toAppError(error);
      if (failure.code !== "journal_conflict")
        this.#options.log.warn({ err: failure }, "the members of the cluster can't be looked after for now");
    }
  }

  /**
   * Marks members as lost that don't renew, and makes the next table if the members have changed. Writes nothing once
   * the lease is lost: this part may run on while others of the duties wait for a store that hangs, and a table of this
   * hub, which saw no loss, would give partitions back at once.
   */
  async sweep(): Promise<void> {
    const { directory, isHeld } = this.#options;
    const lost = directory.all().filter(({ record }) => record.state === "lost");
    this.#away.observe(new Map(lost.map(({ record: { id, lostMs = 0 } }) => [id, lostMs])));
    for (const member of directory.all()) {
      if (!isHeld()) return;
      await this.#tend(member);
    }
    if (isHeld()) await this.#makeTable();
  }

  /** Takes out or forgets a member. One that renews at the same moment holds up neither the others nor the table. */
  async #tend(member: ObservedMember): Promise<void> {
    try {
      if (this.#options.directory.isStill(member)) await this.#takeOut(member);
      else if (member.record.state === "lost") await this.#forget(member);
    } catch (error) {
      if (toAppError(error).code !== "journal_conflict") throw error;
    }
  }

  /** Fails with journal_conflict if the member renews at the same moment. */
  async #takeOut({ record, revision }: ObservedMember): Promise<void> {
    const { bucket, directory, clock, log } = this.#options;
    const lost = encodeMember({ ...record, state: "lost", lostMs: clock.now() });
    await bucket.update(memberKey(record.id), lost, revision);
    this.#lostAtMs = clock.monotonic();
    log.warn(
      { node: record.name },
      "a hub of the cluster doesn't answer; the others take its partitions over",
    );
    await directory.refresh();
  }

  async #forget({ record, revision }: ObservedMember): Promise<void> {
    const { bucket, directory, clock, log } = this.#options;
    const isReplaced = directory
      .all()
      .some(({ record: other }) => other.state === "live" && other.name === record.name);
    const awayForMs = this.#away.forMs(record.id) ?? 0;
    const isLong = clock.now() - (record.lostMs ?? 0) >= FORGET_AFTER_MS && awayForMs >= COPY_WAIT_MS;
    if (!isReplaced && !isLong) return;
    await bucket.delete(memberKey(record.id), revision);
    const why = isReplaced ? "that one of the same name has replaced" : "that has been away for a week";
    log.info({ node: record.name, id: record.id }, `a hub ${why} is forgotten`);
  }

  async #makeTable(): Promise<void> {
    const { bucket, directory, log } = this.#options;
    const live = directory.all().filter(({ record }) => record.state === "live");
    const shared = directory.shared(PARTITIONS_KEY);
    const before = shared === undefined ? NO_TABLE : decodeTable(shared.value);
    // One whose record can't be read may still process its partitions, until it renews or is marked as lost.
    if (live.some(({ record }) => isUnread(record) && before.members.some(({ id }) => id === record.id)))
      return;
    const taking = this.#settled(
      before,
      live.filter(({ record }) => takesPartitions(record)),
    );
    const members = taking.map(({ record }) => ({ id: record.id, session: record.session }));
    const together = live.some(({ record }) => record.needsAllPartitions);
    if (
      shared !== undefined &&
      isTableOf(before, members) &&
      isTogether(before) === (together || members.length < 2)
    )
      return;
    const table = nextTable(before, members, together);
    if (shared === undefined) await bucket.create(PARTITIONS_KEY, encodeTable(table));
    else await bucket.update(PARTITIONS_KEY, encodeTable(table), shared.revision);
    log.info(
      { epoch: table.epoch, members: taking.map(({ record }) => record.name) },
      "partitions are assigned",
    );
    await directory.refresh();
  }

  /**
   * Returns the members except those that the table doesn't have yet while a loss is fresh; all if that leaves none.
   */
  #settled({ members }: PartitionTable, taking: readonly ObservedMember[]): readonly ObservedMember[] {
    if (this.#options.clock.monotonic() - this.#lostAtMs >= SETTLE_MS) return taking;
    const known = taking.filter(({ record }) => members.some(({ id }) => id === record.id));
    return known.length === 0 ? taking : known;
  }
}

function isTogether({ owners }: PartitionTable): boolean {
  return owners.every((owner) => owner === owners[0]);
}
