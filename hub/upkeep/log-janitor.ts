/** Purges the log below what is processed and committed, with a margin of time while there is space. */

import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";

export interface StreamState {
  readonly bytes: number;
  readonly maxBytes: number;
}

export interface LogJanitorOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Streams with the position up to which each may be purged. */
  readonly streams: readonly { readonly name: string; readonly done: () => Position }[];
  readonly state: (stream: string) => Promise<StreamState>;
  /** Removes everything at and before `position`. */
  readonly purge: (stream: string, position: Position) => Promise<void>;
}

const EVERY_MS = 2_000;
/** Processed messages stay this long, for inspection and replay. */
const MARGIN_MS = 15 * 60_000;
/** Fill level from which space matters more than the margin. */
const TIGHT = 0.25;

interface Mark {
  readonly atMs: number;
  readonly position: Position;
}

export class LogJanitor implements Component {
  readonly #options: LogJanitorOptions;
  readonly #task = new BackgroundTask();
  readonly #marks = new Map<string, Mark[]>();
  readonly #purged = new Map<string, Position>();

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

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log, streams } = this.#options;
    for (;;) {
      await clock.sleep(EVERY_MS, signal);
      if (signal.aborted) return;
      for (const { name, done } of streams) {
        try {
          await this.#sweep(name, done());
        } catch (error) {
          log.warn({ err: toAppError(error), stream: name }, "cannot purge the log for now");
        }
      }
    }
  }

  async #sweep(stream: string, done: Position): Promise<void> {
    const now = this.#options.clock.monotonic();
    const marks = this.#marks.get(stream) ?? [];
    this.#marks.set(stream, marks);
    const last = marks.at(-1);
    // One mark a minute is fine enough for a margin of a quarter of an hour.
    if (last === undefined || (now - last.atMs >= 60_000 && comparePositions(done, last.position) > 0)) {
      marks.push({ atMs: now, position: done });
    }
    const { bytes, maxBytes } = await this.#options.state(stream);
    const tight = maxBytes > 0 && bytes > maxBytes * TIGHT;
    let target: Position = tight ? done : START;
    while (marks.length > 0 && now - marks[0]!.atMs >= MARGIN_MS) {
      const { position } = marks.shift()!;
      if (comparePositions(position, target) > 0) target = position;
    }
    if (comparePositions(target, this.#purged.get(stream) ?? START) <= 0) return;
    await this.#options.purge(stream, target);
    this.#purged.set(stream, target);
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
   * written so far.
   */
  advance(raw: Position, doc: Position): Position {
    // Partitions of another hub were taken over, whose cursors are behind.
    if (comparePositions(raw, this.#waiting?.raw ?? this.#done) < 0) {
      this.#waiting = undefined;
      this.#done = START;
    }
    if (this.#waiting !== undefined && comparePositions(this.#waiting.doc, this.#committed) <= 0) {
      this.#done = this.#waiting.raw;
      this.#waiting = undefined;
    }
    this.#waiting ??= { raw, doc };
    return this.#done;
  }
}
