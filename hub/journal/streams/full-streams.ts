/** Which streams have no space: publishers wait for them, and backpressure reaches the sources. */

import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";

/** Counts the publishers that wait per stream and tells of the first and the last. */
export class FullStreams {
  readonly #metrics: JournalMetrics;
  readonly #waiting = new Map<string, number>();
  readonly #listeners = new Set<(stream: string, full: boolean) => void>();

  constructor(metrics: JournalMetrics) {
    this.#metrics = metrics;
  }

  /** Streams that somebody waits for now. */
  get names(): string[] {
    return [...this.#waiting.keys()];
  }

  /** A publisher of `subject` begins (true) or ends to wait. */
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

/** The log's streams take the subjects that begin with their name; buckets those of `$KV.<name>`. */
function streamOf(subject: string): string {
  const [first = "", second = ""] = subject.split(".");
  return first === "$KV" ? `KV_${second}` : first.toUpperCase();
}
