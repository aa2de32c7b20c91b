/** Watches how the lines of files become searchable, to find the longest pause of each. */

import { systemClock } from "#proto/kit/clock.ts";
import { request } from "#test/harness/http.ts";
import { LOGS } from "#test/harness/search.ts";
import { until } from "#test/harness/until.ts";
import type { Node } from "./cluster-world.ts";

const EVERY_MS = 500;

interface Growth {
  count: number;
  sinceMs: number;
  /** Longest pause that has ended. */
  longestMs: number;
}

/** Files whose lines stop arriving for a while. */
export class IngestWatch {
  readonly #nodes: readonly Node[];
  readonly #files = new Map<string, Growth>();

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
  }

  /** Polls a hub that no fault concerns until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await systemClock.sleep(EVERY_MS, signal);
      const node = this.#nodes.find(({ isFaulty }) => !isFaulty);
      if (node !== undefined) await this.#poll(node).catch(() => undefined);
    }
  }

  /** Resolves when lines of every file have arrived since the call. Throws where some don't within `deadlineMs`. */
  async untilAllGrow(deadlineMs: number): Promise<void> {
    const calledMs = systemClock.monotonic();
    const still = (): string[] =>
      [...this.#files].filter(([, { sinceMs }]) => sinceMs < calledMs).map(([path]) => path);
    await until("lines of every file", () => Promise.resolve(still().length === 0), {
      deadlineMs,
      everyMs: EVERY_MS,
    }).catch((error: unknown) => {
      throw new Error(`no lines arrive of ${still().join(", ")}`, { cause: error });
    });
  }

  /** Returns the longest pause of each file since the last call, ms, by path; pauses that last count as well. */
  takeLongestMs(): Map<string, number> {
    const nowMs = systemClock.monotonic();
    const pauses = [...this.#files].map(
      ([path, { sinceMs, longestMs }]) => [path, Math.round(Math.max(longestMs, nowMs - sinceMs))] as const,
    );
    for (const growth of this.#files.values()) growth.longestMs = 0;
    return new Map(pauses);
  }

  async #poll({ hub }: Node): Promise<void> {
    const body = { size: 0, aggs: { files: { terms: { field: "log.file.path", size: 100 } } } };
    type Answer = { aggregations: { files: { buckets: { key: string; doc_count: number }[] } } };
    const answer = await request<Answer>("POST", `${hub.searchUrl}/${LOGS}/_search`, body);
    if (answer.status !== 200) return;
    const nowMs = systemClock.monotonic();
    for (const { key, doc_count: count } of answer.body.aggregations.files.buckets) {
      const before = this.#files.get(key);
      if (before === undefined) this.#files.set(key, { count, sinceMs: nowMs, longestMs: 0 });
      else if (count > before.count) {
        before.longestMs = Math.max(before.longestMs, nowMs - before.sinceMs);
        Object.assign(before, { count, sinceMs: nowMs });
      }
    }
  }
}
