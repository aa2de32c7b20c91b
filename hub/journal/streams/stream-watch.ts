/**
 * Watches the streams: creates them, detects at runtime that one was lost or rolled back, and caches their bounds, so that
 * callers needn't query the server each time.
 */

import type { Connection, ConnectionEvent } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import { abortable } from "#hub/journal/connection/waits.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { Position } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import type { LogHistory } from "./log-history.ts";
import type { StreamDefinition } from "./stream-definitions.ts";
import type { StreamState, StreamStore } from "./stream-store.ts";

/** Waits between attempts to check the streams after a reconnect. */
const RETRY = { firstMs: 20, capMs: 2_000 };

export interface StreamWatchOptions {
  readonly connection: Connection;
  readonly streams: StreamStore;
  readonly history: LogHistory;
  readonly definitions: readonly StreamDefinition[];
  readonly metrics: JournalMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum age of metrics and of the readers' view of a stream's end, ms. */
  readonly pollMs: number;
  /** Recreates the bucket of the history if the server has lost it: streams are verified by it. */
  readonly restoreHistory: () => Promise<void>;
  /** Recreates the other buckets that the server has lost. */
  readonly restoreBuckets: () => Promise<void>;
  readonly server: {
    /** Rises at each start of the server. */
    readonly starts: number;
    /** Messages that a stream had when the server started; undefined if unknown. */
    restoredMessages(stream: string): number | undefined;
  };
  /** Positions of all current readers of a stream. */
  readonly readers: (stream: string) => readonly Position[];
}

/** A stream's state with the monotonic time of the query. */
export type RecentState = StreamState & { readonly atMs: number };

/** Open while a stream is verified. Whoever waits at a closed one passes at the next opening, whatever happens before. */
class Gate {
  #opening = Promise.withResolvers<void>();
  #isOpen = false;

  get passed(): Promise<void> {
    return this.#opening.promise;
  }

  open(): void {
    this.#isOpen = true;
    this.#opening.resolve();
  }

  close(): void {
    if (this.#isOpen) this.#opening = Promise.withResolvers();
    this.#isOpen = false;
  }
}

/** See the file's comment. */
export class StreamWatch implements Component {
  readonly #options: StreamWatchOptions;
  readonly #recent = new Map<string, RecentState>();
  /** Highest sequence that this process stored or read. */
  readonly #seen = new Map<string, number>();
  /** The same at the loss of the connection; messages stored after that prove nothing. */
  readonly #seenAtLoss = new Map<string, number>();
  readonly #gates: ReadonlyMap<string, Gate>;
  /** Number of losses of the connection. */
  #losses = 0;
  /** By stream: the start of the server since which it was verified. Later messages don't count among those of the start. */
  readonly #verifiedStarts = new Map<string, number>();
  #verification = Promise.resolve();
  #polling: Promise<void> | undefined;
  #stopping = new AbortController();
  #unwatch = (): void => undefined;

  constructor(options: StreamWatchOptions) {
    this.#options = options;
    this.#gates = new Map(options.definitions.map(({ name }) => [name, new Gate()]));
  }

  /** Creates the streams. Throws unavailable or timeout. */
  async start(): Promise<void> {
    const { connection } = this.#options;
    this.#stopping = new AbortController();
    this.#verifiedStarts.clear();
    this.#unwatch = connection.onChange((event) => this.#onChange(event));
    try {
      await this.#ensure(() => true);
      await this.#look();
    } catch (error) {
      this.#unwatch();
      throw error;
    }
    this.#polling = this.#poll();
  }

  /** Does not wait for a server that doesn't answer. */
  async stop(): Promise<void> {
    this.#unwatch();
    this.#stopping.abort();
    await this.#verification;
    await this.#polling;
  }

  /** Resolves when connected and the stream is verified. Rejects with the reason of `signal`. */
  async ready(stream: string, signal: AbortSignal): Promise<void> {
    await abortable(this.#gates.get(stream)!.passed, signal);
  }

  /** The stream's state as of a few seconds ago; undefined before the first query. */
  recent(stream: string): RecentState | undefined {
    return this.#recent.get(stream);
  }

  /** Records that the stream had a message with `sequence`. */
  noteSequence(stream: string, sequence: number): void {
    if (sequence > (this.#seen.get(stream) ?? 0)) this.#seen.set(stream, sequence);
  }

  #onChange(event: ConnectionEvent): void {
    if (event === "lost") {
      this.#losses++;
      for (const [name, gate] of this.#gates) {
        gate.close();
        this.#remember(name);
      }
      return;
    }
    this.#options.metrics.reconnected();
    const losses = this.#losses;
    const isNewest = (): boolean => this.#losses === losses;
    this.#verification = this.#verification.then(() => this.#verify(isNewest));
  }

  #remember(stream: string): void {
    const { incarnation } = this.#options.history.of(stream).current;
    for (const position of this.#options.readers(stream)) {
      if (position.incarnation === incarnation) this.noteSequence(stream, position.sequence);
    }
    this.#seenAtLoss.set(stream, this.#seen.get(stream) ?? 0);
  }

  /** Retries until the streams are verified or a new incarnation has begun, or the connection is lost again. */
  async #verify(isNewest: () => boolean): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    const backoff = new Backoff(RETRY);
    while (isNewest() && !signal.aborted) {
      try {
        await abortable(this.#ensure(isNewest), signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, "the log's streams cannot be verified after a reconnect; retrying");
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  /**
   * Verifies all streams, and opens the gate of each as soon as it is: when a server of a cluster is lost, every stream and bucket
   * that it led elects a leader for itself, and none needs to wait for the others; but what is made of RAW goes to DOC, whose loss
   * must be found before. `isNewest`: false once the connection was lost again.
   */
  async #ensure(isNewest: () => boolean): Promise<void> {
    const { definitions, restoreHistory, restoreBuckets } = this.#options;
    await restoreHistory();
    const verified = new Map(definitions.map((each) => [each.name, this.#ensureStream(each)]));
    const open = async (name: string): Promise<void> => {
      await Promise.all([verified.get(name), name === RAW_STREAM ? verified.get(DOC_STREAM) : undefined]);
      if (!isNewest()) return;
      this.#seenAtLoss.delete(name);
      this.#gates.get(name)!.open();
    };
    await Promise.all([restoreBuckets(), ...definitions.map(({ name }) => open(name))]);
  }

  async #ensureStream(definition: StreamDefinition): Promise<void> {
    const { streams, history, server } = this.#options;
    const { name } = definition;
    const { starts } = server;
    await streams.ensure(definition);
    const seen = this.#seenAtLoss.get(name) ?? 0;
    const remembered =
      seen === 0 ? [] : [{ incarnation: history.of(name).current.incarnation, sequence: seen }];
    const isVerified = this.#verifiedStarts.get(name) === starts;
    const restored = isVerified ? undefined : server.restoredMessages(name);
    const { raised } = await history.reconcile(name, remembered, restored);
    this.#verifiedStarts.set(name, starts);
    if (!raised) return;
    // What was seen is of the stream that is lost: at another attempt it must not count as lost once more.
    this.#seen.delete(name);
    this.#seenAtLoss.delete(name);
  }

  async #poll(): Promise<void> {
    const { clock, log, connection, pollMs } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await clock.sleep(pollMs, signal);
      if (signal.aborted) return;
      if (!connection.connected) continue;
      try {
        await abortable(this.#look(), signal);
      } catch (error) {
        log.debug({ err: error }, "the state of the streams cannot be read");
      }
    }
  }

  async #look(): Promise<void> {
    const { streams, definitions, clock, metrics, readers } = this.#options;
    for (const { name } of definitions) {
      const atMs = clock.monotonic(); // before the call: the state is at least this recent
      const state = await streams.state(name);
      this.#recent.set(name, { ...state, atMs });
      const sequences = readers(name).map(({ sequence }) => sequence);
      metrics.stream(state, sequences.length === 0 ? undefined : Math.min(...sequences));
    }
  }
}
