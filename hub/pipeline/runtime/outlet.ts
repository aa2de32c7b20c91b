/** The way out of a partition: writes that are tried until they work, and dead letters for what never will. */

import type { PackedDocuments } from "#hub/pipeline/batch/packed-documents.ts";
import { type PackedRecords, RECORDS_PER_OFFSET, unpackRecords } from "#hub/pipeline/batch/packed-records.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { Position } from "#proto/position.ts";
import { deliverDocuments } from "./delivery.ts";
import type { OutputHost } from "./output-host.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import type {
  DeadLetter,
  DeadLetterSink,
  DocumentOrigin,
  DocumentSink,
  EventListener,
  SourceRange,
} from "./ports.ts";

const RETRY = { firstMs: 50, capMs: 5_000 };

export interface OutletNeighbours {
  readonly sink: DocumentSink;
  readonly deadLetters: DeadLetterSink;
  readonly listener: EventListener | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: PipelineMetrics;
  /** Writers of the outputs; without it there are none. */
  readonly outputs?: OutputHost;
}

export class Outlet {
  readonly #neighbours: OutletNeighbours;
  readonly #abort: AbortSignal;

  /** `abort` ends all tries; they throw then. */
  constructor(neighbours: OutletNeighbours, abort: AbortSignal) {
    this.#neighbours = neighbours;
    this.#abort = abort;
  }

  /** Writes what a message became; returns the position of its last DOC message, or undefined without one. */
  async deliver(
    documents: PackedDocuments,
    origin: DocumentOrigin,
    ranges: readonly SourceRange[],
  ): Promise<Position | undefined> {
    const { sink, listener, metrics } = this.#neighbours;
    const sourceKey = ranges[0]?.key ?? "";
    this.#count(documents);
    for (const { reason, plugin, offset, event } of documents.rejected) {
      await this.bury({ reason, plugin, origin, sourceKey, offset, kind: "event", data: event });
    }
    const [position] = await Promise.all([
      deliverDocuments({
        documents,
        origin,
        ranges,
        append: (sources, columns) =>
          this.#insist(() => sink.append?.(origin, sources, columns) ?? Promise.resolve(null)),
        write: (sources, list) => this.#insist(() => sink.write(origin, sources, list)),
        reject: ({ offset, source }, reason) =>
          this.bury({ reason, plugin: "sink", origin, sourceKey, offset, kind: "event", data: source }),
        listener,
      }),
      ...documents.records.map((records) => this.#deliverRecords(records, origin, sourceKey)),
    ]);
    metrics.documents.inc(documents.ends.length);
    return position;
  }

  /** Writes a dead letter. One that is refused is told in the log: there is no further place for it. */
  async bury(letter: DeadLetter): Promise<void> {
    const { metrics, deadLetters, log } = this.#neighbours;
    metrics.deadLetters.inc({ plugin: letter.plugin });
    try {
      await this.#insist(() => deadLetters.write(letter));
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
    const { outputs } = this.#neighbours;
    if (outputs === undefined) return;
    const records = unpackRecords(packed, sourceKey);
    const plugin = outputs.nameOf(packed.output);
    for (const { place, reason } of await outputs.write(packed.output, records)) {
      const { place: placeInSource, body } = records[place]!;
      const offset = Math.floor(placeInSource / RECORDS_PER_OFFSET);
      await this.bury({ reason, plugin, origin, sourceKey, offset, kind: "event", data: body });
    }
  }

  #count({ counts }: PackedDocuments): void {
    const { metrics } = this.#neighbours;
    metrics.events.inc(counts.events);
    metrics.dropped.inc(counts.dropped);
    metrics.emptyLines.inc(counts.emptyLines);
    metrics.nulBytes.inc(counts.nulBytes);
    metrics.invalidUtf8.inc(counts.invalidUtf8);
  }

  /** Tries until it works, the failure can't pass, or the pipeline stops. */
  async #insist<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock, log, metrics } = this.#neighbours;
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
