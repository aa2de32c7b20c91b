/** What the hubs of a cluster store of its copies: the table that places them, and which hub has which. */

import { CopyAllocator } from "#hub/cluster/allocation/copy-allocator.ts";
import { EVERYWHERE, type RerouteCommand, rerouteAll } from "#hub/cluster/allocation/copy-reroute.ts";
import {
  COPIES_KEY,
  type CopyTable,
  decodeCopies,
  decodeHeld,
  encodeCopies,
  encodeHeld,
  HELD_PREFIX,
  type HeldCopies,
} from "#hub/cluster/allocation/copy-table.ts";
import type { CopyView } from "#hub/cluster/allocation/copy-view.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import { memberKey, readMember } from "#hub/cluster/membership/member-record.ts";
import type { Membership } from "#hub/cluster/membership/membership.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** The stored state of the copies. */
export interface StoredCopies {
  readonly table: CopyTable;
  /** The other live hubs that have published their copies since they joined. */
  readonly hubs: readonly StoredHub[];
}

/** The stored state of another hub. */
export interface StoredHub {
  readonly id: string;
  readonly threads: number;
  /** Returns whether it has a whole copy of a shard. */
  readonly has: (uuid: string, shard: number) => boolean;
}

/** Attempts of one change of the table against concurrent changes by the hub that holds the duties. */
const REROUTE_TRIES = 20;

export interface CopyStoreOptions {
  readonly bucket: StateBucket;
  readonly directory: MemberDirectory;
  readonly membership: Membership;
  /** Id of this hub. */
  readonly node: string;
  /** This hub's view of the copies. */
  readonly view: CopyView;
  /** Ids of the other hubs that aren't marked as lost; works before this one joins. */
  readonly peers: () => Promise<string[]>;
  /** Ids of the hubs whose copies may be moved. */
  readonly live: () => ReadonlySet<string>;
  readonly log: Logger;
}

export class CopyStore {
  readonly #options: CopyStoreOptions;

  constructor(options: CopyStoreOptions) {
    this.#options = options;
  }

  /** Returns the stored table of copies and the hubs that have them; null if each hub has all. Works before this one joins. */
  async read(): Promise<StoredCopies | null> {
    const entry = await this.#options.bucket.get(COPIES_KEY);
    if (entry === null) return null;
    const hubs: StoredHub[] = [];
    for (const id of await this.#options.peers()) {
      const [member, has] = await Promise.all([
        this.#options.bucket.get(memberKey(id)),
        this.#options.bucket.get(HELD_PREFIX + id),
      ]);
      if (member === null || has === null) continue;
      const { session, shards } = decodeHeld(has.value);
      const record = readMember(member);
      if (session !== record?.session) continue;
      const { threads = 0 } = record;
      hubs.push({ id, threads, has: (uuid, shard) => shards[uuid]?.includes(shard) ?? false });
    }
    return { table: decodeCopies(entry.value), hubs };
  }

  /** Stores which shards this hub has. Throws journal_conflict if the entry was changed meanwhile, closed in another session. */
  async publish(held: HeldCopies): Promise<void> {
    const key = HELD_PREFIX + this.#options.node;
    const entry = await this.#options.bucket.get(key);
    const { isValid, session } = this.#options.membership;
    if (!isValid || session !== held.session) throw new AppError("closed", "this hub's membership has ended");
    if (entry === null) await this.#options.bucket.create(key, encodeHeld(held));
    else await this.#options.bucket.update(key, encodeHeld(held), entry.revision);
  }

  /** Returns the duty that places the copies of these indices. */
  allocator(
    catalog: Pick<IndexCatalog, "all" | "isDeleted" | "expand">,
    isHeld: () => boolean,
  ): CopyAllocator {
    const { bucket, directory, log } = this.#options;
    return new CopyAllocator({
      bucket,
      directory,
      indices: () => catalog.all(),
      isDeleted: (uuid) => catalog.isDeleted(uuid),
      setReplicas: (name, replicas) => catalog.expand(name, replicas),
      isHeld,
      clock: systemClock,
      log,
    });
  }

  /** See Cluster.reroute. Copies of hubs that aren't live aren't moved; the allocator continues from the changed table. */
  async reroute(
    commands: readonly (RerouteCommand & { readonly wanted: number })[],
    mode: "all" | "possible" | "dry_run",
  ): Promise<readonly (string | null)[]> {
    const { directory, live, view } = this.#options;
    for (let tries = 1; ; tries++) {
      const entry = await this.#options.bucket.get(COPIES_KEY);
      if (entry === null) return commands.map(() => EVERYWHERE);
      const table = decodeCopies(entry.value);
      const { copies, refusals } = rerouteAll(table.copies, commands, live(), view);
      const isRefused = refusals.some((each) => each !== null);
      if (mode === "dry_run" || (mode === "all" && isRefused) || copies === table.copies) return refusals;
      try {
        const next = { ...table, epoch: table.epoch + 1, copies };
        await this.#options.bucket.update(COPIES_KEY, encodeCopies(next), entry.revision);
        await directory.refresh();
        return refusals;
      } catch (error) {
        if (toAppError(error).code !== "journal_conflict" || tries === REROUTE_TRIES) throw error;
      }
    }
  }
}
