/** Metrics of the log. */

import type { Counter, Gauge, Metrics } from "#proto/kit/metrics.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";

/** The reported state of a stream. */
interface StreamStatistics {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly maxBytes: number;
  readonly lastSequence: number;
}

/** Declares and updates all metrics of the journal. */
export class JournalMetrics {
  readonly #metrics: Metrics;
  readonly #streamBytes: Gauge<"stream">;
  readonly #streamMaxBytes: Gauge<"stream">;
  readonly #streamMessages: Gauge<"stream">;
  readonly #lag: Gauge<"stream">;
  readonly #publishedMessages: Counter<"stream">;
  readonly #publishedBytes: Counter<"stream">;
  readonly #duplicates: Counter<"stream">;
  readonly #readMessages: Counter<"stream">;
  readonly #readBytes: Counter<"stream">;
  readonly #publishRetries: Counter<"reason">;
  readonly #dropped: Counter;
  readonly #fullWaits: Counter<"stream">;
  readonly #readerRestarts: Counter<"stream" | "reason">;
  readonly #reconnects: Counter;
  readonly #serverRestarts: Counter;
  readonly #incarnations: Counter<"stream">;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#streamBytes = metrics.gauge("tailrace_journal_stream_bytes", "Size of a stream", ["stream"]);
    this.#streamMaxBytes = metrics.gauge("tailrace_journal_stream_max_bytes", "Limit of a stream", [
      "stream",
    ]);
    this.#streamMessages = metrics.gauge("tailrace_journal_stream_messages", "Messages in a stream", [
      "stream",
    ]);
    this.#lag = metrics.gauge("tailrace_journal_lag_messages", "Messages the slowest reader has before it", [
      "stream",
    ]);
    this.#publishedMessages = metrics.counter(
      "tailrace_journal_published_messages_total",
      "Messages stored",
      ["stream"],
    );
    this.#publishedBytes = metrics.counter("tailrace_journal_published_bytes_total", "Bytes stored", [
      "stream",
    ]);
    this.#duplicates = metrics.counter(
      "tailrace_journal_duplicates_total",
      "Messages the stream had already",
      ["stream"],
    );
    this.#readMessages = metrics.counter("tailrace_journal_read_messages_total", "Messages read", ["stream"]);
    this.#readBytes = metrics.counter("tailrace_journal_read_bytes_total", "Bytes read", ["stream"]);
    this.#publishRetries = metrics.counter(
      "tailrace_journal_publish_retries_total",
      "Publishes tried again",
      ["reason"],
    );
    this.#dropped = metrics.counter(
      "tailrace_journal_unstored_dropped_total",
      "Messages between hubs that weren't sent, as the server takes them too slowly",
    );
    this.#fullWaits = metrics.counter(
      "tailrace_journal_full_waits_total",
      "Times publishers began to wait for space",
      ["stream"],
    );
    // Exported as 0 from the start: an alert can't detect the first event of a series that begins with it.
    for (const stream of [RAW_STREAM, DOC_STREAM]) this.#fullWaits.inc({ stream }, 0);
    this.#readerRestarts = metrics.counter("tailrace_journal_reader_restarts_total", "Consumers made anew", [
      "stream",
      "reason",
    ]);
    this.#reconnects = metrics.counter(
      "tailrace_journal_reconnects_total",
      "Times the connection to NATS came back",
    );
    this.#serverRestarts = metrics.counter(
      "tailrace_journal_server_restarts_total",
      "Deaths of the embedded nats-server",
    );
    this.#incarnations = metrics.counter(
      "tailrace_journal_incarnations_total",
      "Times a stream was found lost or rolled back",
      ["stream"],
    );
  }

  /** `sizes` is called at each scrape. */
  tails(sizes: () => readonly { readonly stream: string; readonly sizeBytes: number }[]): void {
    this.#metrics.gauge(
      "tailrace_journal_tail_bytes",
      "Messages stored by this hub that wait in memory for its reader",
      ["stream"],
      (gauge) => {
        for (const { stream, sizeBytes } of sizes()) gauge.set({ stream }, sizeBytes);
      },
    );
  }

  published(stream: string, sizeBytes: number, duplicate: boolean): void {
    if (duplicate) {
      this.#duplicates.inc({ stream });
      return;
    }
    this.#publishedMessages.inc({ stream });
    this.#publishedBytes.inc({ stream }, sizeBytes);
  }

  /** A message of core NATS was dropped. */
  dropped(): void {
    this.#dropped.inc();
  }

  publishRetried(reason: string): void {
    this.#publishRetries.inc({ reason });
  }

  fullWait(stream: string): void {
    this.#fullWaits.inc({ stream });
  }

  read(stream: string, sizeBytes: number): void {
    this.#readMessages.inc({ stream });
    this.#readBytes.inc({ stream }, sizeBytes);
  }

  readerRestarted(stream: string, reason: string): void {
    this.#readerRestarts.inc({ stream, reason });
  }

  reconnected(): void {
    this.#reconnects.inc();
  }

  serverRestarted(): void {
    this.#serverRestarts.inc();
  }

  incarnationRaised(stream: string): void {
    this.#incarnations.inc({ stream });
  }

  /** `slowest`: sequence of the reader furthest behind; undefined: no reader. */
  stream(
    { name, messages, bytes, maxBytes, lastSequence }: StreamStatistics,
    slowest: number | undefined,
  ): void {
    this.#streamMessages.set({ stream: name }, messages);
    this.#streamBytes.set({ stream: name }, bytes);
    this.#streamMaxBytes.set({ stream: name }, maxBytes);
    this.#lag.set({ stream: name }, slowest === undefined ? 0 : Math.max(0, lastSequence - slowest));
  }
}
