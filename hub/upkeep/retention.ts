/**
 * Deletes whole indices by rules per index pattern: those that are too old, or the oldest when they exceed a size
 * together. The age of an index is that of its last document. The newest index of a pattern is never deleted for
 * size, as it receives the writes.
 *
 * Only the hub that has the duties runs it (`duties` in hub/node/wiring/cluster-work.ts). It deletes an index from the
 * catalog; the files go where each hub follows the catalog (`ShardHost.#follow`, hub/cluster/shards/shard-host.ts).
 * Deletion by a lifecycle policy: lifecycles.ts. Purging the log: log-janitor.ts.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Gauge, Metrics } from "#proto/kit/metrics.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";

/** Interval of the checks. */
const EVERY_MS = 60_000;

/** How long and how much to keep of the indices that match a pattern. */
export interface RetentionRule {
  /** Index name pattern; `*` matches anything. */
  readonly pattern: string;
  /** Indices whose last document is older are deleted; undefined: no limit. */
  readonly maxAgeMs: number | undefined;
  /** Bytes that the matching indices may take together; undefined: no limit. */
  readonly maxBytes: number | undefined;
}

/** The properties of an index that retention uses. */
export interface RetainedIndex {
  readonly name: string;
  readonly uuid: string;
  /** The data stream that it belongs to, which patterns are then matched against. */
  readonly dataStream?: string;
  readonly sizeBytes: number;
  /** When its last document arrived, ms since 1970. */
  readonly lastMs: number;
}

/** An index to be deleted. */
export interface DueIndex {
  readonly index: RetainedIndex;
  readonly reason: "age" | "size";
}

export interface RetentionOptions {
  /** Called at each check. The first rule whose pattern matches a name applies. */
  readonly rules: () => Promise<readonly RetentionRule[]>;
  readonly indices: () => Promise<readonly RetainedIndex[]>;
  /** Deletes this index, not another one that has its name by now. Throws index_missing if it is gone. */
  readonly remove: (index: Pick<RetainedIndex, "name" | "uuid">) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Parses a rule such as "logs-* 30d 50gb": a pattern, then an age, a size or both. Throws settings_invalid. */
export function parseRetentionRule(text: string): RetentionRule {
  const refuse = (why: string, cause?: unknown): AppError =>
    new AppError("settings_invalid", `retention.rules: "${text}" ${why}`, { cause });
  const [pattern = "", ...limits] = text.trim().split(/\s+/);
  const sizes = limits.filter((limit) => /b$/i.test(limit));
  const ages = limits.filter((limit) => !/b$/i.test(limit));
  if (pattern === "" || limits.length === 0 || sizes.length > 1 || ages.length > 1) {
    throw refuse('must be a pattern of index names with an age, a size or both, such as "logs-* 30d 50gb"');
  }
  try {
    return {
      pattern,
      maxAgeMs: ages[0] === undefined ? undefined : parseDuration(ages[0]),
      maxBytes: sizes[0] === undefined ? undefined : parseSize(sizes[0]),
    };
  } catch (error) {
    throw refuse(`cannot be parsed: ${(error as Error).message}`, error);
  }
}

/** Applies the rules once a minute. May be started again after a stop: another hub did the work meanwhile. */
export class Retention implements Component {
  readonly #options: RetentionOptions;
  readonly #task = new BackgroundTask();
  readonly #deleted: Counter<"reason">;
  readonly #deletedBytes: Counter;
  readonly #excess: Gauge<"pattern">;

  constructor(options: RetentionOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#deleted = metrics.counter(
      "tailrace_retention_indices_deleted_total",
      "indices deleted because of their age or the disk they take",
      ["reason"],
    );
    this.#deletedBytes = metrics.counter("tailrace_retention_bytes_deleted_total", "bytes of these indices");
    this.#excess = metrics.gauge(
      "tailrace_retention_excess_bytes",
      "bytes above the limit of a pattern that can't be deleted, since they are of the index written to",
      ["pattern"],
    );
  }

  start(): Promise<void> {
    this.#task.repeat(this.#options.clock, EVERY_MS, () => this.sweep());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Checks once and deletes. Never throws: a deletion that fails is retried at the next check. */
  async sweep(): Promise<void> {
    const { indices, log } = this.#options;
    let due: ReadonlyMap<RetentionRule, readonly RetainedIndex[]>;
    try {
      due = byRule(await this.#options.rules(), await indices());
    } catch (error) {
      log.warn({ err: toAppError(error) }, "the retention rules cannot be applied for now");
      return;
    }
    for (const [rule, found] of due) await this.#apply(rule, found);
  }

  async #apply(rule: RetentionRule, indices: readonly RetainedIndex[]): Promise<void> {
    let bytes = indices.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
    for (const { index, reason } of dueOf(rule, indices, this.#options.clock.now()))
      if (await this.#remove(index, reason, rule)) bytes -= index.sizeBytes;
    if (rule.maxBytes === undefined) return;
    this.#excess.set({ pattern: rule.pattern }, Math.max(0, bytes - rule.maxBytes));
  }

  async #remove(index: RetainedIndex, reason: "age" | "size", { pattern }: RetentionRule): Promise<boolean> {
    const { log, remove } = this.#options;
    const facts = { index: index.name, reason, bytes: index.sizeBytes, rule: pattern };
    try {
      await remove(index);
    } catch (error) {
      log.warn({ ...facts, err: toAppError(error) }, "an index that is due can't be deleted for now");
      return false;
    }
    this.#deleted.inc({ reason });
    this.#deletedBytes.inc(index.sizeBytes);
    log.info(
      { ...facts, lastDocument: new Date(index.lastMs).toISOString() },
      "an index was deleted by retention.rules",
    );
    return true;
  }
}

/** Returns what the rules delete now: for each rule the oldest first. */
export function dueIndices(
  rules: readonly RetentionRule[],
  indices: readonly RetainedIndex[],
  nowMs: number,
): DueIndex[] {
  return [...byRule(rules, indices)].flatMap(([rule, found]) => dueOf(rule, found, nowMs));
}

function byRule(
  rules: readonly RetentionRule[],
  indices: readonly RetainedIndex[],
): Map<RetentionRule, RetainedIndex[]> {
  const found = new Map<RetentionRule, RetainedIndex[]>(rules.map((rule) => [rule, []]));
  for (const index of indices) {
    const rule = rules.find(({ pattern }) => matchesWildcard(pattern, index.dataStream ?? index.name));
    if (rule !== undefined) found.get(rule)!.push(index);
  }
  return found;
}

function dueOf(rule: RetentionRule, indices: readonly RetainedIndex[], nowMs: number): DueIndex[] {
  const oldestFirst = indices.toSorted((a, b) => a.lastMs - b.lastMs || (a.name < b.name ? -1 : 1));
  const youngest = nowMs - (rule.maxAgeMs ?? Number.POSITIVE_INFINITY);
  const due: DueIndex[] = [];
  const kept: RetainedIndex[] = [];
  for (const index of oldestFirst)
    if (index.lastMs < youngest) due.push({ index, reason: "age" });
    else kept.push(index);
  let bytes = kept.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  for (const index of kept.slice(0, -1)) {
    if (bytes <= (rule.maxBytes ?? Number.POSITIVE_INFINITY)) break;
    due.push({ index, reason: "size" });
    bytes -= index.sizeBytes;
  }
  return due;
}
