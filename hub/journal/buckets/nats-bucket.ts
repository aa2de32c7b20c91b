/** A StateBucket on JetStream's key-value store: changes are compare-and-set, reads come from the leader. */

import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { type NatsConnection, nuid } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { toJournalError } from "#hub/journal/connection/nats-errors.ts";
import type { Publisher } from "#hub/journal/connection/publisher.ts";
import { retriedCall } from "#hub/journal/connection/retried-call.ts";
import { within } from "#hub/journal/connection/waits.ts";
import type { StreamStore } from "#hub/journal/streams/stream-store.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { StateBucket, StateChange, StateEntry } from "#proto/kit/state-bucket.ts";
import { type RepairedBucket, repairBucket } from "./bucket-repair.ts";
import { BucketScan, OPERATION_HEADER, type ScannedEntry } from "./bucket-scan.ts";

/** Values may have up to 1 MiB; the rest is for headers. */
const MAX_VALUE_BYTES = 1024 ** 2 + 4 * 1024;

/** How long a call is retried before it throws `timeout`. */
const CALL_TIMEOUT_MS = 10_000;

/** The same for listings, which may need several attempts to create a consumer after a server of a cluster has died. */
const LIST_TIMEOUT_MS = 30_000;

/** Number of deletions after which markers of deleted keys are purged, and the minimum age of such markers. */
const MARKERS_KEPT = 1_000;
const MARKER_AGE_MS = 30 * 60_000;

/** Waits before a listing or a watch restarts. */
const RETRY = { firstMs: 20, capMs: 500 };

/** Prefixes to which a wildcard can be appended. */
const BELOW = /^(?:[-/_=a-zA-Z0-9]+\.)+$/;
const KEY = /^[-/_=.a-zA-Z0-9]{1,512}$/;

export interface NatsBucketOptions {
  /** Name of the bucket; letters, digits, - and _. */
  readonly name: string;
  readonly connection: Connection;
  readonly publisher: Publisher;
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns the replicas in a cluster; an existing bucket keeps more. */
  readonly replicas: () => number;
  /**
   * How long the server holds the pulls of a watch open that has no changes, ms; default as otherwise. Their end shows that the
   * server has forgotten the consumer.
   */
  readonly quietMs?: number;
  /** Set where the server has no others that store the bucket: folder of the hub alone for files while a bucket is repaired. */
  readonly repairFolder?: string;
}

/** See StateBucket. */
export class NatsBucket implements StateBucket {
  readonly #options: NatsBucketOptions;
  readonly #stream: string;
  readonly #prefix: string;
  readonly #scan: BucketScan;
  #deletions = 0;

  private constructor(options: NatsBucketOptions) {
    this.#options = options;
    this.#stream = `KV_${options.name}`;
    this.#prefix = `$KV.${options.name}.`;
    const { connection, streams, quietMs } = options;
    this.#scan = new BucketScan(connection, streams, this.#stream, this.#prefix, quietMs);
  }

  /** Creates the bucket if missing, and repairs it if it may. Throws unavailable, timeout or data_corrupt. */
  static async open(options: NatsBucketOptions): Promise<NatsBucket> {
    const bucket = new NatsBucket(options);
    await bucket.ensure();
    const { repairFolder, name, log } = options;
    if (repairFolder === undefined) return bucket;
    try {
      await repairBucket(bucket.#repaired(), repairFolder, log);
    } catch (error) {
      throw toJournalError(error, `repair of bucket ${name}`);
    }
    return bucket;
  }

  /** Recreates the bucket if the server has lost it. Throws unavailable or timeout. */
  async ensure(): Promise<void> {
    const { name, connection, streams } = this.#options;
    const replicas = this.#options.replicas();
    const settings = {
      history: 1,
      replicas,
      maxValueSize: MAX_VALUE_BYTES,
      allow_direct: false, // a follower's answer may be stale
    };
    // Without a question to the leader of the whole cluster: the bucket's own one is enough where the bucket exists.
    const create = (nats: NatsConnection, timeout: number): Promise<unknown> =>
      new Kvm(jetstream(nats, { timeout, checkAPI: false })).create(name, settings);
    try {
      await retriedCall(connection, create);
    } catch (error) {
      throw toJournalError(error, `bucket ${name}`);
    }
    if (replicas > 1) await streams.replicate(this.#stream, replicas);
  }

  /** Reading of a damaged record by its key gives none, as for a key that isn't there. */
  #repaired(): RepairedBucket {
    const { name, streams } = this.#options;
    const readAll: RepairedBucket["readAll"] = (take, { valuesToo }) =>
      within(LIST_TIMEOUT_MS, (signal) =>
        this.#retried(signal, (tries) =>
          this.#scan.readAll(take, { headersOnly: !valuesToo, signal, tries }),
        ),
      );
    return {
      name,
      bounds: () => streams.state(this.#stream),
      readAll,
      storedKeys: async () => {
        const subjects = await streams.subjects(this.#stream, `${this.#prefix}>`);
        return subjects.map((subject) => subject.slice(this.#prefix.length));
      },
      read: async (key) => {
        const found = await this.#last(key);
        return found && { key, value: found.deleted ? null : found.value, revision: found.revision };
      },
      clear: (lastSequence) => streams.purge(this.#stream, lastSequence + 1),
      add: (key, value) => this.#write(key, value, 0),
    };
  }

  async get(key: string): Promise<StateEntry | null> {
    const found = await this.#last(key);
    return found === null || found.deleted ? null : { key, value: found.value, revision: found.revision };
  }

  async create(key: string, value: Uint8Array): Promise<number> {
    try {
      return await this.#write(key, value, 0);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "journal_conflict") throw error;
      const found = await this.#last(key);
      if (found === null || !found.deleted) throw error;
      return await this.#write(key, value, found.revision);
    }
  }

  update(key: string, value: Uint8Array, revision: number): Promise<number> {
    return this.#write(key, value, revision);
  }

  put(key: string, value: Uint8Array): Promise<number> {
    return this.#write(key, value);
  }

  async delete(key: string, revision?: number): Promise<void> {
    // With a revision the server compares. Without one the key is read first, so that a missing key gets no marker.
    if (revision === undefined && (await this.get(key)) === null) return;
    await this.#write(key, new Uint8Array(), revision, { [OPERATION_HEADER]: "DEL" });
    if (++this.#deletions % MARKERS_KEPT === 0) await this.#removeMarkers();
  }

  async keys(prefix = ""): Promise<string[]> {
    try {
      const entries = await within(LIST_TIMEOUT_MS, (signal) => this.#list(signal, prefix));
      return entries
        .filter(({ key, value }) => value !== null && key.startsWith(prefix))
        .map(({ key }) => key);
    } catch (error) {
      throw toJournalError(error, `keys of bucket ${this.#options.name}`);
    }
  }

  async *watch(signal: AbortSignal): AsyncIterable<StateChange> {
    const known = new Map<string, number>();
    const backoff = new Backoff(RETRY);
    while (!signal.aborted) {
      try {
        for await (const change of this.#scan.follow(known, signal, backoff.tries)) {
          backoff.reset();
          yield change;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof AppError && error.code === "closed") throw error;
        this.#options.log.debug({ err: error, bucket: this.#options.name }, "a watch begins anew");
        await this.#options.clock.sleep(backoff.next(), signal);
      }
    }
  }

  /** Returns at least the entries that begin with `prefix`. */
  async #list(signal: AbortSignal, prefix = ""): Promise<ScannedEntry[]> {
    const below = BELOW.test(prefix) ? prefix : "";
    // Not beside the consumer, which a server that lists many subjects creates too late; and not again with each of them.
    const stored = await this.#retried(signal, () => this.#scan.stored(below, signal));
    return this.#retried(signal, (tries) => this.#scan.list(stored, signal, tries));
  }

  async #retried<T>(signal: AbortSignal, scan: (tries: number) => Promise<T>): Promise<T> {
    const backoff = new Backoff(RETRY);
    for (;;) {
      try {
        return await scan(backoff.tries);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError && !error.retryable) throw error;
        await this.#options.clock.sleep(backoff.next(), signal);
      }
    }
  }

  async #last(key: string): Promise<{ value: Uint8Array; revision: number; deleted: boolean } | null> {
    const message = await this.#options.streams.lastMessage(this.#stream, this.#subject(key));
    if (message === null) return null;
    return {
      value: message.data,
      revision: message.sequence,
      deleted: message.header(OPERATION_HEADER) !== "",
    };
  }

  /** Safe to repeat: the message id makes the server answer a repetition with the first revision. */
  async #write(
    key: string,
    value: Uint8Array,
    expected?: number,
    headers?: Record<string, string>,
  ): Promise<number> {
    const options = {
      messageId: nuid.next(),
      ...(expected === undefined ? {} : { expectLastSubjectSequence: expected }),
      ...(headers === undefined ? {} : { headers }),
    };
    const subject = this.#subject(key);
    const { sequence } = await within(CALL_TIMEOUT_MS, (signal) =>
      this.#options.publisher.publish(subject, value, { ...options, signal }),
    );
    return sequence;
  }

  #subject(key: string): string {
    if (!KEY.test(key) || key.startsWith(".") || key.endsWith(".") || key.includes("..")) {
      throw new AppError(
        "request_invalid",
        `key "${key}": write 1 to 512 of [-/_=.a-zA-Z0-9], dots between others`,
      );
    }
    return this.#prefix + key;
  }

  /** Purges markers of deleted keys that every watcher has seen. */
  async #removeMarkers(): Promise<void> {
    const { clock, streams, name, log } = this.#options;
    try {
      const entries = await within(LIST_TIMEOUT_MS, (signal) => this.#list(signal));
      for (const { key, value, revision, timeMs } of entries) {
        if (value !== null || clock.now() - timeMs < MARKER_AGE_MS) continue;
        await streams.purge(this.#stream, revision + 1, this.#subject(key)); // not what was written since
      }
    } catch (error) {
      log.debug({ err: error, bucket: name }, "markers of deleted keys are removed later");
    }
  }
}

/** Options shared by all buckets of a hub. */
export type SharedBucketOptions = Omit<NatsBucketOptions, "name">;

export class OpenBuckets {
  readonly #shared: SharedBucketOptions;
  readonly #open = new Map<string, Promise<NatsBucket>>();

  constructor(shared: SharedBucketOptions) {
    this.#shared = shared;
  }

  /**
   * Returns the bucket, created if missing. Name: letters, digits, - and _. A failed open is retried at the next
   * call.
   */
  open(name: string): Promise<StateBucket> {
    const open = this.#open.get(name) ?? NatsBucket.open({ ...this.#shared, name });
    this.#open.set(name, open);
    open.catch(() => this.#open.delete(name));
    return open;
  }

  /** Recreates those of the buckets that the server has lost; without names of all that are open. */
  async restore(names: readonly string[] = [...this.#open.keys()]): Promise<void> {
    const restored = await Promise.allSettled(
      names.map(async (name) => (await this.#open.get(name))?.ensure()),
    );
    const failed = restored.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  /** Forgets all buckets: the next start opens them again. */
  clear(): void {
    this.#open.clear();
  }
}
