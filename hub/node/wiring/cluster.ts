/** This hub as a member of its cluster: identity, membership, duties and partitions, and the progress of the others. */

import { CopyView } from "#hub/cluster/allocation/copy-view.ts";
import { PartitionAllocator } from "#hub/cluster/allocation/partition-allocator.ts";
import type { PartitionRunner } from "#hub/cluster/allocation/partition-owner.ts";
import { PartitionOwner } from "#hub/cluster/allocation/partition-owner.ts";
import {
  CLUSTER_BUCKET,
  type ClusterIdentity,
  openIdentity,
} from "#hub/cluster/membership/cluster-identity.ts";
import {
  AwayTimes,
  committedByLive,
  isAwaited,
  neededOfDoc,
  processedRaw,
  StoppedMembers,
} from "#hub/cluster/membership/cluster-progress.ts";
import { DUTIES_KEY, Duties, dutyHolder } from "#hub/cluster/membership/duties.ts";
import { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import {
  MEMBER_PREFIX,
  MEMBERS_BUCKET,
  type MemberFacts,
  type MemberProgress,
  type MemberRecord,
  memberKey,
  readMember,
} from "#hub/cluster/membership/member-record.ts";
import { Membership } from "#hub/cluster/membership/membership.ts";
import { type Removal, removeMember } from "#hub/cluster/membership/remove-member.ts";
import { allowBlocks } from "#hub/cluster/writes/append-encoder.ts";
import type { Journal } from "#hub/journal/journal.ts";
import { hostThreads } from "#hub/node/settings/host-threads.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { type Position, START } from "#proto/position.ts";
import { CopyStore } from "./copy-store.ts";

export interface ClusterOptions {
  readonly settings: HubSettings;
  readonly journal: Journal;
  /** path.data, absolute. */
  readonly folder: string;
  readonly version: string;
  readonly startedMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What this hub reports about itself; set by the flow. */
export interface OwnProgress {
  httpAddress: () => string;
  doc: () => Position;
  raw: () => Position;
  needsAllPartitions: () => boolean;
}

type Parts = readonly (readonly [name: string, part: Component])[];

export class ClusterNode {
  readonly identity: ClusterIdentity;
  readonly directory: MemberDirectory;
  readonly membership: Membership;
  readonly partitions: PartitionOwner;
  readonly duties: Duties;
  /** This hub's view of the copies, if copies are placed. */
  readonly copies: CopyView;
  readonly copyStore: CopyStore;
  readonly #bucket: StateBucket;
  readonly #options: ClusterOptions;
  readonly #away = new AwayTimes(systemClock);
  readonly #stopped = new StoppedMembers(systemClock);
  #progress: OwnProgress | undefined;
  #parts: () => Parts = () => [];
  #linkAddress: () => MemberProgress["linkAddress"] = () => undefined;

  /** Throws settings_invalid if settings or data folder belong to another cluster. Starts nothing. */
  static async open(options: ClusterOptions): Promise<ClusterNode> {
    const { settings, journal, folder } = options;
    const bucket = await journal.bucket(MEMBERS_BUCKET);
    const isOwn = journal.server.embeds && !journal.server.clustered;
    const others = isOwn ? await bucket.keys(MEMBER_PREFIX) : [];
    const identity = await openIdentity({
      bucket: await journal.bucket(CLUSTER_BUCKET),
      folder,
      clusterName: settings["cluster.name"],
      nodeName: settings["node.name"],
      mayRename: isOwn && others.length <= 1,
      store: journal.server.address.url,
    });
    return new ClusterNode(options, bucket, identity);
  }

  private constructor(options: ClusterOptions, bucket: StateBucket, identity: ClusterIdentity) {
    const { log } = options;
    const shared = { bucket, clock: systemClock, log };
    this.#bucket = bucket;
    this.#options = options;
    this.identity = identity;
    this.directory = new MemberDirectory({ ...shared, metrics: options.metrics });
    const { directory } = this;
    this.copies = new CopyView(directory);
    this.membership = new Membership({
      ...shared,
      directory,
      facts: ownFacts(options, identity.node),
      progress: () => this.#ownProgress(),
    });
    this.copyStore = new CopyStore({
      ...shared,
      directory,
      membership: this.membership,
      node: identity.node,
      view: this.copies,
      peers: () => this.peers(),
      live: () => new Set([identity.node, ...this.others().map(({ id }) => id)]),
    });
    directory.onChange(() => allowBlocks(this.members().every(({ readsBlocks }) => readsBlocks === true)));
    directory.onChange(() => this.#stopped.observe(this.members()));
    const { membership } = this;
    this.partitions = new PartitionOwner({ directory, membership, clock: systemClock, log });
    this.duties = new Duties({
      ...shared,
      node: identity.node,
      process: membership.process,
      parts: () => {
        const isHeld = (): boolean => this.duties.held;
        return [["allocator", new PartitionAllocator({ ...shared, directory, isHeld })], ...this.#parts()];
      },
    });
    this.#declareMetrics(options.metrics);
  }

  #declareMetrics(metrics: Metrics): void {
    metrics.gauge("tailrace_cluster_members", "hubs of the cluster by state", ["state"], (gauge) => {
      for (const state of ["live", "lost"])
        gauge.set({ state }, this.members().filter((member) => member.state === state).length);
    });
    metrics.gauge("tailrace_cluster_partitions", "partitions that this hub processes", [], (gauge) =>
      gauge.set(this.partitions.owned.size),
    );
  }

  /** Sets the function that returns the address at which this hub takes links, before it joins. */
  useLinkAddress(address: () => MemberProgress["linkAddress"]): void {
    this.#linkAddress = address;
  }

  /** Sets what this hub reports, the runner of its partitions, and the work of the hub that holds the duties. */
  use(given: {
    readonly progress: OwnProgress;
    readonly runner: PartitionRunner;
    readonly duties: () => Parts;
  }): void {
    this.#progress = given.progress;
    this.#parts = given.duties;
    this.partitions.use(given.runner);
  }

  /** Joins and leaves. */
  get joining(): Component {
    return {
      start: async () => {
        await this.directory.start();
        try {
          await this.membership.start();
        } catch (error) {
          await this.directory.stop();
          throw error;
        }
      },
      stop: async () => {
        await this.membership.stop();
        await this.directory.stop();
      },
    };
  }

  /** Gives the partitions to the others, once processing has stopped here. */
  async release(): Promise<void> {
    // Without NATS the membership expires.
    if (this.membership.isValid) await this.membership.accept(false).catch(() => undefined);
  }

  /** Every known hub, by name; includes this one once it has joined. */
  members(): MemberRecord[] {
    return this.directory.all().map(({ record }) => record);
  }

  /**
   * The other hubs that have renewed their membership in time, with the revisions of their records and their threads; `isLate`:
   * a renewal is late.
   */
  others(): {
    readonly id: string;
    readonly revision: number;
    readonly threads: number;
    readonly isLate: boolean;
  }[] {
    return this.directory
      .all()
      .filter((member) => member.record.id !== this.identity.node && this.directory.silentMs(member) === 0)
      .filter(({ record }) => record.state === "live")
      .map((member) => {
        const { id, threads = 0 } = member.record;
        return { id, revision: member.revision, threads, isLate: this.directory.isLate(member) };
      });
  }

  /** Id of the hub that holds the duties; undefined while none does. */
  get leader(): string | undefined {
    return dutyHolder(this.directory.shared(DUTIES_KEY)?.value);
  }

  /** Position in DOC that all live hubs have committed; `own`: this one's; `incarnation`: see committedByLive. */
  committed(own: Position, incarnation?: number): Position {
    if (this.#isLogAwaited()) return START;
    return committedByLive(this.members(), this.identity.node, own, incarnation);
  }

  /** Position in DOC up to which no copy needs the log. `isTight`: hubs that were stopped must copy from others. */
  docDone(isTight: boolean): Position {
    if (this.#isLogAwaited()) return START;
    const stopped = isTight ? [] : this.#stopped.positions();
    return neededOfDoc(this.members(), (id) => this.#away.forMs(id), stopped);
  }

  /** Position in RAW up to which every partition is processed and committed; START while it is unknown. */
  rawDone(): Position {
    const { epoch, members } = this.partitions.table();
    return processedRaw(this.members(), { epoch, ids: members.map(({ id }) => id) }) ?? START;
  }

  /** Returns the ids of other hubs that aren't marked as lost. Works before this one joins. */
  async peers(): Promise<string[]> {
    const own = memberKey(this.identity.node);
    const keys = (await this.#bucket.keys(MEMBER_PREFIX)).filter((key) => key !== own);
    const entries = await Promise.all(keys.map((key) => this.#bucket.get(key)));
    return entries
      .flatMap((entry) => readMember(entry) ?? [])
      .filter(({ state }) => state === "live")
      .map(({ id }) => id);
  }

  /** Returns whether there are other hubs, which have copies. Works before this one joins. */
  async hasOthers(): Promise<boolean> {
    const own = memberKey(this.identity.node);
    return (await this.#bucket.keys(MEMBER_PREFIX)).some((key) => key !== own);
  }

  /** See Cluster.remove. */
  remove(name: string): Promise<Removal> {
    const { settings, journal } = this.#options;
    const removeServer = journal.server.clustered
      ? (each: string) => journal.server.removePeer(each)
      : undefined;
    const deps = {
      bucket: this.#bucket,
      directory: this.directory,
      own: settings["node.name"],
      removeServer,
      isServerUp: (each: string) => journal.server.isPeerUp(each),
    };
    return removeMember(deps, name);
  }

  #isLogAwaited(): boolean {
    const { copies, left = {} } = this.copies.table();
    const members = this.members();
    const lost = members.flatMap(({ id, state, lostMs = 0 }) =>
      state === "lost" ? [[id, lostMs] as const] : [],
    );
    this.#away.observe(new Map([...Object.entries(left), ...lost]));
    return isAwaited(
      copies,
      (uuid, shard) => members.some(({ id }) => this.copies.has(id, uuid, shard)),
      (id) => this.#away.forMs(id),
    );
  }

  #ownProgress(): MemberProgress {
    const progress = this.#progress;
    const linkAddress = this.#linkAddress();
    return {
      httpAddress: progress?.httpAddress() ?? "",
      ...(linkAddress !== undefined && { linkAddress }),
      doc: progress?.doc() ?? null,
      raw: progress?.raw() ?? null,
      needsAllPartitions: progress?.needsAllPartitions() ?? false,
    };
  }
}

/** Returns the part of this hub's record that stays the same while it runs. */
function ownFacts({ settings, version, startedMs }: ClusterOptions, id: string): MemberFacts {
  const host = settings["transport.host"] || settings["network.host"];
  return {
    id,
    name: settings["node.name"],
    version,
    host,
    transportAddress: `${host}:${settings["transport.port"]}`,
    attributes: settings["node.attr"],
    startedMs,
    threads: hostThreads(settings["hub.threads"]),
    places: settings["cluster.copies"] === "replicas",
    readsBlocks: true,
  };
}
