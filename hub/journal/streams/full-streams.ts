/** Streams without space: publishers wait for them, and backpressure reaches the sources. */

import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";

/** Counts waiting publishers per stream and reports the first and the last. */
export class FullStreams {
  readonly #metrics: JournalMetrics;
  readonly #waiting = new Map<string, number>();
  readonly #listeners = new Set<(stream: string, full: boolean) => void>();

  constructor(metrics: JournalMetrics) {
    this.#metrics = metrics;
  }

  /** Streams with waiting publishers. */
  get names(): string[] {
    return [...this.#waiting.keys()];
  }

  /** A publisher of `subject` starts (true) or stops waiting. */
  count(subject: string, begins: boolean): void {
    const stream = streamOf(subject);
    const before = this.#waiting.get(stream) ?? 0;
    const after = before + (begins ? 1 : -1);
    if (begins) this.#metrics.fullWait(stream);
    if (after === 0) this.#waiting.delete(stream);
    else this.#waiting.set(stream, after);
    if (before === 0 || after === 0) for (const listener of this.#listeners) listener(stream, after > 0);
  }

  /** Calls `listener` until the returned function is called. It must not throw. */
  onChange(listener: (stream: string, full: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Subjects of the log's streams begin with the stream's name; those of buckets with `$KV.<name>`. */
function streamOf(subject: string): string {
  const [first = "", second = ""] = subject.split(".");
  return first === "$KV" ? `KV_${second}` : first.toUpperCase();
}
