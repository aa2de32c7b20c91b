/**
 * Reads the log RAW for a session: hands each message to its partition when there is capacity, and tries again after a
 * failure. Refuses messages that can't be read or that aren't from their sender.
 */

import { type RawHeader, readRawHeader } from "#hub/pipeline/batch/raw-header.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { isInputUuid } from "#proto/subjects.ts";
import type { CursorKeeper } from "./cursor-keeper.ts";
import type { InFlight } from "./in-flight.ts";
import type { Partition } from "./partition.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import type { PipelineOptions } from "./pipeline-options.ts";
import type { RawEntry } from "./ports.ts";

const GAP =
  "messages of the log RAW were removed, and it isn't noted that they were processed; a hub of this version that holds the cluster's duties notes it";

const READ_RETRY = { firstMs: 50, capMs: 5_000 };

export interface RawReaderOptions {
  readonly pipeline: Pick<PipelineOptions, "source" | "log">;
  readonly keeper: CursorKeeper;
  readonly inFlight: InFlight;
  readonly metrics: PipelineMetrics;
  readonly clock: Clock;
  /** See RawReader.partitions. */
  readonly partitions: ReadonlySet<number> | undefined;
  /** Reading begins with the message after it. */
  readonly after: Position;
  /** Called after each message; true ends the reading. */
  readonly isDone?: () => boolean;
}

export class RawReader {
  /** Messages of other partitions are passed over; undefined: none are. May be changed while it reads. */
  partitions: ReadonlySet<number> | undefined;
  readonly #options: RawReaderOptions;
  #position: Position;
  #problem = "";

  constructor(options: RawReaderOptions) {
    this.#options = options;
    this.partitions = options.partitions;
    this.#position = options.after;
  }

  /** The last message that was handed to its partition or passed over. */
  get position(): Position {
    return this.#position;
  }

  /** What keeps the log from being read; empty: nothing. */
  get problem(): string {
    return this.#problem;
  }

  /** Reads until `signal` is aborted, or all is done. */
  async run(signal: AbortSignal): Promise<void> {
    const { pipeline, clock, metrics, isDone } = this.#options;
    const backoff = new Backoff(READ_RETRY);
    while (!signal.aborted) {
      try {
        for await (const entry of pipeline.source.read({ after: this.#position, signal })) {
          if (!(await this.#take(entry, signal)) || isDone?.() === true) return;
          backoff.reset();
        }
      } catch (error) {
        if (signal.aborted) return;
        metrics.readErrors.inc();
        pipeline.log.warn({ err: error, after: this.#position }, "reading the log failed and is tried again");
        if (toAppError(error).code === "journal_gap") await this.#passGap();
      }
      await clock.sleep(backoff.next(), signal);
    }
  }

  /** Continues after messages that were removed from the log, if a floor says that they were processed. */
  async #passGap(): Promise<void> {
    try {
      await this.#options.keeper.reloadFloors();
      const after = this.#options.keeper.processed; // of the current partitions: some may have been added
      const isPassed = comparePositions(after, this.#position) > 0;
      if (isPassed) this.#position = after;
      this.#problem = isPassed ? "" : GAP;
    } catch (error) {
      this.#options.pipeline.log.warn({ err: error }, "the floors can't be read; it is tried again");
    }
  }

  /** Hands a message to its partition when there is capacity; returns false at the stop. */
  async #take(entry: RawEntry, signal: AbortSignal): Promise<boolean> {
    if (this.#takerOf(entry) !== undefined) {
      const header = this.#header(entry);
      const bytes = Math.max(entry.data.length, typeof header === "string" ? 0 : header.dataBytes);
      if (!(await this.#options.inFlight.acquire(bytes, signal))) return false;
      this.#accept(entry, header, bytes);
    }
    if (comparePositions(entry.position, this.#position) > 0) this.#position = entry.position;
    return true;
  }

  #accept(entry: RawEntry, header: RawHeader | string, bytes: number): void {
    // The partition may have stopped, or moved to another hub and back, while the message waited for capacity.
    const partition = this.#takerOf(entry);
    if (partition !== undefined) partition.accept(entry, header, bytes);
    else this.#options.inFlight.release(bytes);
  }

  /** Returns the partition that takes a message; undefined: it is passed over. */
  #takerOf({ partition: number, position }: RawEntry): Partition | undefined {
    if (this.partitions?.has(number) === false) return undefined;
    const partition = this.#options.keeper.partition(number);
    return partition.wants(position) ? partition : undefined;
  }

  /** Returns the header of a message, or why it is refused. */
  #header(entry: RawEntry): RawHeader | string {
    const { pipeline, metrics } = this.#options;
    try {
      const header = readRawHeader(entry.data);
      const forgery = forgeryOf(header, entry.sender);
      if (forgery === undefined) return header;
      metrics.forgedMessages.inc();
      pipeline.log.warn({ sender: entry.sender, position: entry.position }, forgery);
      return forgery;
    } catch (error) {
      pipeline.log.error(
        { err: toAppError(error), position: entry.position },
        "a message of the log can't be read",
      );
      return "the message is not a LogBatch";
    }
  }
}

/**
 * Returns why a message can't be from its sender, the only one that may publish on its subject: it names another agent, or
 * a pipeline though no input of a pipeline sent it. Undefined: it can.
 */
function forgeryOf({ agentId, pipelineId }: RawHeader, sender: string): string | undefined {
  if (agentId !== sender) return `a message of ${sender} says that it is from ${agentId}`;
  if (pipelineId === "" || isInputUuid(sender)) return undefined;
  return `a message of the agent ${sender} names the pipeline ${pipelineId}`;
}
