/**
 * Purges messages of the log that are processed and committed.
 *
 * | what is known | what is done | what can go wrong |
 * |---|---|---|
 * | processed messages take more than `keepBytes` | the oldest are purged, so that about `keepBytes` of them stay, whatever waits behind them | nats-server may rewrite the file that holds the new first message in place, and lose it in a crash: all of it was processed, as a file has at most 8 MiB |
 * | nothing arrived for `keepMs`, and all is processed | all is purged | a crash meanwhile may make the stream start over: every message was processed |
 * | messages that a lost hub needs, or that aren't committed | they stay; `done` (`hub/cluster/membership/cluster-progress.ts`) is below them, for an hour after the loss | the stream fills, and senders must wait |
 * | messages that a stopped hub needs, which may start again | they stay for a quarter of an hour, unless a quarter of the space is used | the hub copies its shards from another one |
 * | messages were purged before this hub had the task | it is recorded like a purge of its own: an earlier version recorded none | – |
 * | the stream was rolled back since | what it still has of the processed messages counts | – |
 * | the stream was recreated since, or this hub doesn't know its newest incarnation yet | nothing | – |
 */

import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";

export interface StreamState {
  readonly bytes: number;
  readonly maxBytes: number;
  /** The newest one. */
  readonly incarnation: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

export interface PurgedStream {
  readonly name: string;
  /** Returns the position up to which it may be purged. `isTight`: more than a quarter of its space is used. */
  readonly done: (isTight: boolean) => Position;
  /**
   * Called before everything at and before `position` is removed; where it throws, nothing is. The first sweep calls it with
   * what is gone already.
   */
  readonly beforePurge?: (position: Position) => Promise<void>;
}

export interface LogJanitorOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Bytes of processed messages that a stream keeps, for files that are set back and for diagnosis. */
  readonly keepBytes: number;
  /** Time without a new message after which they go as well, ms. */
  readonly keepMs: number;
  readonly streams: readonly PurgedStream[];
  readonly state: (stream: string) => Promise<StreamState>;
  /** Returns the sequence of the last message at or before `position`, which may be of an earlier incarnation; 0: none. */
  readonly sequenceAt: (stream: string, position: Position) => number;
  readonly positionOf: (stream: string, sequence: number) => Position;
  /** Removes everything at and before `position`. */
  readonly purge: (stream: string, position: Position) => Promise<void>;
}

const EVERY_MS = 2_000;
/** How long the state isn't asked for after all was processed, until more is. */
const SETTLED_MS = 10_000;
/** Share of a stream's limit that processed messages may take. */
const MOST_KEPT = 0.25;

export class LogJanitor implements Component {
  readonly #options: LogJanitorOptions;
  readonly #task = new BackgroundTask();
  /** By stream: its last sequence, and since when that is the last, monotonic ms. */
  readonly #ends = new Map<string, { readonly lastSequence: number; readonly sinceMs: number }>();

  /** Streams of which it is recorded what was purged before. */
  readonly #noted = new Set<string>();

  /** By stream of which all was processed: up to where, and when that was found, monotonic ms. */
  readonly #settled = new Map<string, { readonly done: Position; readonly atMs: number }>();

  constructor(options: LogJanitorOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Purges each stream once. */
  async sweep(): Promise<void> {
    const { log, streams } = this.#options;
    for (const stream of streams) {
      try {
        await this.#sweep(stream);
      } catch (error) {
        log.warn({ err: toAppError(error), stream: stream.name }, "cannot purge the log for now");
      }
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(EVERY_MS, signal);
      if (signal.aborted) return;
      await this.sweep();
    }
  }

  async #sweep({ name: stream, done: doneOf, beforePurge }: PurgedStream): Promise<void> {
    const { state: stateOf, sequenceAt, positionOf, purge, keepMs, clock } = this.#options;
    const atMs = clock.monotonic();
    if (this.#isSettled(stream, doneOf, atMs)) return;
    this.#settled.delete(stream);
    const state = await stateOf(stream);
    const unchangedMs = this.#unchangedMs(stream, state);
    const { bytes, maxBytes, incarnation, firstSequence, lastSequence } = state;
    // Of the message's own incarnation: a position of a later one would also cover messages behind it.
    const note = async (sequence: number) => beforePurge?.(positionOf(stream, sequence));
    if (!this.#noted.has(stream) && firstSequence > 1) await note(firstSequence - 1);
    this.#noted.add(stream);
    const done = doneOf(maxBytes > 0 && bytes > maxBytes * MOST_KEPT);
    if (bytes === 0 || comparePositions(done, START) <= 0 || done.incarnation > incarnation) return;
    const processed = Math.min(sequenceAt(stream, done), lastSequence);
    const isIdle = unchangedMs >= keepMs && processed === lastSequence;
    const sequence = isIdle ? lastSequence : this.#surplus(state, processed);
    if (sequence >= firstSequence) {
      await note(sequence);
      await purge(stream, { incarnation, sequence });
    }
    if (processed === lastSequence) this.#settled.set(stream, { done, atMs });
  }

  /** Nothing more was processed, so that nothing more can be purged for now. */
  #isSettled(stream: string, doneOf: (isTight: boolean) => Position, nowMs: number): boolean {
    const settled = this.#settled.get(stream);
    if (settled === undefined || nowMs - settled.atMs >= SETTLED_MS) return false;
    return comparePositions(doneOf(false), settled.done) === 0;
  }

  /** Returns how long the stream has had no new message, ms. */
  #unchangedMs(stream: string, { lastSequence }: StreamState): number {
    const nowMs = this.#options.clock.monotonic();
    const end = this.#ends.get(stream);
    if (end?.lastSequence === lastSequence) return nowMs - end.sinceMs;
    this.#ends.set(stream, { lastSequence, sinceMs: nowMs });
    return 0;
  }

  /** Returns the sequence before the last `keepBytes` of the messages up to `processed`, as if all had the same size. */
  #surplus({ bytes, maxBytes, firstSequence, lastSequence }: StreamState, processed: number): number {
    const most = maxBytes > 0 ? maxBytes * MOST_KEPT : Number.POSITIVE_INFINITY;
    const bytesEach = bytes / (lastSequence - firstSequence + 1);
    return processed - Math.ceil(Math.min(this.#options.keepBytes, most) / bytesEach);
  }
}

interface Waiting {
  readonly raw: Position;
  /** Documents of `raw` and before are at or before this position in DOC. */
  readonly doc: Position;
}

/** Joins the pipeline's progress in RAW with the shards' progress in DOC. */
export class ProcessedFloor {
  #waiting: Waiting | undefined;
  #done: Position = START;
  #committed: Position = START;

  /** Position in DOC up to which the shards have committed. */
  get position(): Position {
    return this.#committed;
  }

  committed(position: Position): void {
    this.#committed = position;
  }

  /**
   * Returns the position in RAW up to which everything is done. `raw`: processed up to here; `doc`: the last document
   * written so far; `committed`: by the shards of all live hubs, as this one's needn't have the document.
   */
  advance(raw: Position, doc: Position, committed: Position): Position {
    // Partitions of another hub were taken over, whose cursors are behind.
    if (comparePositions(raw, this.#waiting?.raw ?? this.#done) < 0) {
      this.#waiting = undefined;
      this.#done = START;
    }
    if (this.#waiting !== undefined && comparePositions(this.#waiting.doc, committed) <= 0) {
      this.#done = this.#waiting.raw;
      this.#waiting = undefined;
    }
    this.#waiting ??= { raw, doc };
    return this.#done;
  }
}
