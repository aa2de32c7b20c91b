/**
 * The output of a partition: writes that are retried until they succeed, and dead letters for those that never will.
 */

import type { MessageOutput } from "#hub/pipeline/batch/document-packer.ts";
import { type PackedRecords, RECORDS_PER_OFFSET, unpackRecords } from "#hub/pipeline/batch/packed-records.ts";
import {
  type BatchDocument,
  type DocumentBatch,
  type DocumentOrigin,
  documentsOf,
  type SourceRange,
  selectDocuments,
} from "#proto/document-batch.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import type { OutputHost } from "./output-host.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import type { DeadLetter, DeadLetterSink, DocumentSink, EventListener } from "./ports.ts";

const RETRY = { firstMs: 50, capMs: 5_000 };

export interface OutletDeps {
  readonly sink: DocumentSink;
  readonly deadLetters: DeadLetterSink;
  readonly listener: EventListener | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: PipelineMetrics;
  /** Writers of the outputs; without it there are none. */
  readonly outputs?: OutputHost;
  /** False where another hub may have taken over; without it writing is always allowed. */
  readonly mayWrite?: () => boolean;
}

export class Outlet {
  readonly #deps: OutletDeps;
  readonly #abort: AbortSignal;

  /** `abort` ends all attempts; they throw then. */
  constructor(deps: OutletDeps, abort: AbortSignal) {
    this.#deps = deps;
    this.#abort = abort;
  }

  /** Writes what a message became; returns the position of its last DOC message, or undefined without one. */
  async deliver(
    output: MessageOutput,
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
  ): Promise<Position | undefined> {
    const sourceKey = sources[0]?.key ?? "";
    if (this.#deps.mayWrite?.() === false)
      throw new AppError("cancelled", "another hub may have taken the partition over");
    this.#count(output);
    for (const { reason, plugin, offset, event } of output.rejected) {
      await this.deadLetter({ reason, plugin, origin, sourceKey, offset, kind: "event", data: event });
    }
    const [position] = await Promise.all([
      this.#deliverDocuments(output.documents, origin, sources),
      ...output.records.map((records) => this.#deliverRecords(records, origin, sourceKey)),
    ]);
    this.#deps.metrics.documents.inc(output.documents.ends.length);
    return position;
  }

  async #deliverDocuments(
    documents: DocumentBatch,
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
  ): Promise<Position | undefined> {
    const { listener } = this.#deps;
    if (documents.ends.length === 0) return undefined;
    const position = await this.#write(documents, origin, sources);
    if (listener?.listening === true) this.#show(listener, documents, sources);
    else freeBytes(documents.bytes); // The log has a copy.
    return position;
  }

  /** The documents are in the log: observers must not hold up the pipeline, whatever fails in them. */
  #show(listener: EventListener, documents: DocumentBatch, sources: readonly SourceRange[]): void {
    try {
      listener.offer(documentsOf(documents, sources));
    } catch (error) {
      this.#deps.log.error({ err: error }, "documents were not shown to the viewers of live lines");
    }
  }

  /**
   * If the sink refuses all documents together, each index is tried separately; what is refused then becomes a dead
   * letter.
   */
  async #write(
    documents: DocumentBatch,
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
  ): Promise<Position | undefined> {
    const { sink } = this.#deps;
    try {
      return await this.#retry(() => sink.write(origin, sources, documents));
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
    let last: Position | undefined;
    for (const group of groupsByIndex(documents)) {
      try {
        const position = await this.#retry(() => sink.write(origin, sources, group));
        if (last === undefined || comparePositions(position, last) > 0) last = position;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        for (const document of documentsOf(group, sources))
          await this.#reject(document, error.message, origin, sources);
      }
    }
    return last;
  }

  async #reject(
    { offset, source }: BatchDocument,
    reason: string,
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
  ): Promise<void> {
    const sourceKey = sources[0]?.key ?? "";
    await this.deadLetter({ reason, plugin: "sink", origin, sourceKey, offset, kind: "event", data: source });
  }

  /** Writes a dead letter. One that is refused is logged, since nothing else could take it. */
  async deadLetter(letter: DeadLetter): Promise<void> {
    const { metrics, deadLetters, log } = this.#deps;
    metrics.deadLetters.inc({ plugin: letter.plugin });
    try {
      await this.#retry(() => deadLetters.write(letter));
    } catch (error) {
      if (this.#abort.aborted) throw error;
      const { reason, sourceKey, offset } = letter;
      log.error(
        { err: error, reason, sourceKey, offset },
        "a dead letter was refused: the event is lost to the hub",
      );
    }
  }

  /** Resolves when an output has its records, or the dead letters those it refused. */
  async #deliverRecords(packed: PackedRecords, origin: DocumentOrigin, sourceKey: string): Promise<void> {
    const { outputs } = this.#deps;
    if (outputs === undefined) return;
    const records = unpackRecords(packed, sourceKey);
    const plugin = outputs.nameOf(packed.output);
    for (const { place, reason } of await outputs.write(packed.output, records)) {
      const { place: placeInSource, body } = records[place]!;
      const offset = Math.floor(placeInSource / RECORDS_PER_OFFSET);
      await this.deadLetter({ reason, plugin, origin, sourceKey, offset, kind: "event", data: body });
    }
  }

  #count({ counts }: MessageOutput): void {
    const { metrics } = this.#deps;
    metrics.events.inc(counts.events);
    metrics.dropped.inc(counts.dropped);
    metrics.emptyLines.inc(counts.emptyLines);
    metrics.nulBytes.inc(counts.nulBytes);
    metrics.invalidUtf8.inc(counts.invalidUtf8);
  }

  /** Retries until it works, the failure is permanent, or the pipeline stops. */
  async #retry<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock, log, metrics } = this.#deps;
    const backoff = new Backoff(RETRY);
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        const failure = toAppError(error);
        if (this.#abort.aborted || (!failure.retryable && failure.code !== "internal")) throw failure;
        metrics.sinkRetries.inc();
        log.warn({ err: error, tries: backoff.tries + 1 }, "a write to the log failed and is tried again");
        await clock.sleep(backoff.next(), this.#abort);
        if (this.#abort.aborted) throw new AppError("cancelled", "the pipeline stops");
      }
    }
  }
}

/** Returns the documents of each index. */
function groupsByIndex(documents: DocumentBatch): DocumentBatch[] {
  const { ends, indices } = documents;
  const places = Array.from(ends, (_, at) => at);
  const groups = Map.groupBy(places, (at) => indices?.[at] ?? 0);
  return Array.from(groups.values(), (group) => selectDocuments(documents, Uint32Array.from(group)));
}

function isRefusal(error: unknown): error is AppError {
  return (
    error instanceof AppError && !error.retryable && error.code !== "cancelled" && error.code !== "internal"
  );
}
