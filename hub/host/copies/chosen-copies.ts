/**
 * Searches the most suitable copies: this hub's if it has them, other hubs' if a request prefers them, and another copy of
 * each shard that failed here.
 */

import { shardKey } from "#hub/cluster/shards/shard-folders.ts";
import type { CallableHost } from "#hub/host/client/shards-client.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import type {
  CopyWish,
  Count,
  CountCall,
  HubThread,
  SearchCall,
  TargetIndex,
} from "#hub/host/contract/calls.ts";
import type { Found } from "#hub/host/contract/found.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import type { ShardFailure } from "#hub/search/phases/contract.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type AppError, type ErrorCode, toAppError } from "#proto/kit/errors.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { CopiesBehind } from "./copy-age.ts";
import {
  type ChoiceOptions,
  type CopyHolders,
  choosePlan,
  copyKey,
  hasOther,
  lackingShards,
  type Plan,
} from "./copy-choice.ts";
import type { EarlyCollects } from "./early-collects.ts";
import { ForwardedShards } from "./forwarded-shards.ts";

/** Failures of a copy that another copy may not have. */
export const COPY_FAULTS: ReadonlySet<ErrorCode> = new Set([
  "unavailable",
  "closed",
  "data_corrupt",
  "overloaded",
]);
/** Maximum copies of a shard that one request tries. */
export const MAX_TRIES = 3;
/** A search that ran longer before its thread was lost may be the cause of the loss: it isn't retried on another thread. */
const RETRY_WITHIN_MS = 20_000;

export interface ChosenCopiesOptions {
  /** The shards of this hub. */
  readonly own: HostedShards;
  readonly holders: CopyHolders;
  /** Returns a thread of another hub. */
  readonly thread: (at: HubThread) => CallableHost;
  /** Returns the number of an index's shards; 0 if there is no such index. */
  readonly shards: (uuid: string) => number;
  /** Returns an index's name. */
  readonly nameOf: (uuid: string) => string;
  /** See CopyAge. */
  readonly behind: () => CopiesBehind | undefined;
  /** Returns why another hub's answers since a monotonic time, ms, may lack writes; undefined if each is whole. */
  readonly othersBehind: (hub: string, sinceMs: number) => AppError | undefined;
  /** Asks other hubs while this hub's shards are called. */
  readonly early: Pick<EarlyCollects, "during">;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** One operation that searches. */
interface Search<T> {
  readonly targets: readonly TargetIndex[];
  readonly wish: CopyWish | undefined;
  readonly signal: AbortSignal;
  readonly run: (shards: HostedShards, targets: readonly TargetIndex[]) => Promise<T>;
  readonly failures: (answer: T) => readonly ShardFailure[];
  /** Returns the answer with all its failures. */
  readonly failing: (answer: T, failures: readonly ShardFailure[]) => T;
}

/** The result of an attempt. */
interface Attempt<T> {
  readonly answer?: T;
  readonly error?: AppError;
  readonly failures: readonly ShardFailure[];
}

export class ChosenCopies extends ForwardedShards {
  readonly #options: ChosenCopiesOptions;
  readonly #own: HostedShards;
  readonly #again: Counter;

  constructor(options: ChosenCopiesOptions) {
    super(options.own);
    this.#options = options;
    this.#own = options.own;
    this.#again = options.metrics.counter(
      "tailrace_cluster_searches_again_total",
      "searches that were repeated at another copy, since one failed",
    );
  }

  override search(call: SearchCall, signal: AbortSignal): Promise<Found> {
    // A point in time has snapshots only of the copies that were chosen when it was opened.
    if (call.point !== undefined) return this.#own.search(call, signal);
    const { early, clock } = this.#options;
    const nowMs = clock.now();
    return this.#search({
      targets: call.targets,
      wish: call.copies,
      signal,
      run: (shards, targets) => {
        const placed = { ...call, targets, nowMs };
        const search = (): Promise<Found> => shards.search(placed, signal);
        return shards === this.#own ? early.during(placed, signal, search) : search();
      },
      failures: ({ shards }) => shards.failures,
      failing: withFailures,
    });
  }

  override count(call: CountCall, signal: AbortSignal): Promise<Count> {
    return this.#search({
      targets: call.targets,
      wish: call.copies,
      signal,
      run: (shards, targets) => shards.count({ ...call, targets }, signal),
      failures: ({ failures }) => failures,
      failing: (answer, failures) => ({ ...answer, failures }),
    });
  }

  /**
   * Searches, and repeats the search if failed shards have other copies. Returns the best answer. Copies also count as failed
   * if their hub may lack writes of others; their results are returned nevertheless.
   */
  async #search<T>(search: Search<T>): Promise<T> {
    const { clock, holders, shards } = this.#options;
    const behind = this.#options.behind();
    if (holders.isAlone && behind === undefined) return search.run(this.#own, search.targets);
    checkKnown(search.targets, behind);
    const startMs = clock.monotonic();
    const failed = new Set<string>();
    let isLost = false;
    let best: Attempt<T> | undefined;
    for (let tries = 1; ; tries++) {
      const options: ChoiceOptions = { holders, wish: search.wish, failed, isLost, shards };
      const plan = choosePlan(search.targets, options);
      const tried = await this.#attempt(search, plan.targets, plan.merger);
      const attempt = this.#lacking(search, tried, plan, (hub) =>
        hub === holders.node ? behind?.error : this.#options.othersBehind(hub, startMs),
      );
      best = better(best, attempt);
      const isOver = search.signal.aborted || tries === MAX_TRIES;
      if (isOver || clock.monotonic() - startMs > RETRY_WITHIN_MS) return resultOf(best);
      if (isMergerLost(attempt)) {
        // The hub that merged counts as lost for the rest of this search.
        if (plan.merger === undefined) isLost = true;
        for (const [key, hub] of plan.used)
          if (hub === (plan.merger?.hub ?? holders.node)) failed.add(`${hub}/${key}`);
      }
      for (const { indexUuid, shard, error } of attempt.failures) {
        if (error === behind?.error && !behind.othersAnswer) continue;
        const hub = plan.used.get(shardKey(indexUuid, shard));
        if (hub !== undefined && COPY_FAULTS.has(error.code)) failed.add(copyKey(hub, indexUuid, shard));
      }
      if (!this.#hasOthers(search, plan.used, { ...options, isLost })) return resultOf(best);
      this.#again.inc();
    }
  }

  async #attempt<T>(
    { run, failures }: Search<T>,
    targets: readonly TargetIndex[],
    merger: HubThread | undefined,
  ): Promise<Attempt<T>> {
    try {
      const shards = merger === undefined ? this.#own : new ShardsClient(this.#options.thread(merger));
      const answer = await run(shards, targets);
      return { answer, failures: failures(answer) };
    } catch (thrown) {
      const error = toAppError(thrown);
      const failed = error.data["failures"];
      return { error, failures: Array.isArray(failed) ? (failed as ShardFailure[]) : [] };
    }
  }

  /** Adds the shards whose copies may lack writes to the failures. */
  #lacking<T>(
    search: Search<T>,
    attempt: Attempt<T>,
    plan: Plan,
    behindAt: (hub: string) => AppError | undefined,
  ): Attempt<T> {
    const { answer, failures } = attempt;
    if (answer === undefined) return attempt;
    const lacking = lackingShards(search.targets, plan, this.#options, failures, behindAt);
    if (lacking.length === 0) return attempt;
    const all = [...failures, ...lacking];
    return { answer: search.failing(answer, all), failures: all };
  }

  /** Returns whether a failed shard has a copy that didn't fail. */
  #hasOthers<T>({ targets }: Search<T>, used: ReadonlyMap<string, string>, options: ChoiceOptions): boolean {
    return targets.some(({ uuid }) =>
      Array.from({ length: options.shards(uuid) }, (_, shard) => shard).some((shard) => {
        const hub = used.get(shardKey(uuid, shard));
        return (
          hub !== undefined && options.failed.has(copyKey(hub, uuid, shard)) && hasOther(uuid, shard, options)
        );
      }),
    );
  }
}

/** Throws unavailable where there may be indices that this hub doesn't know yet, which no failed shard would show. */
export function checkKnown(targets: readonly TargetIndex[], behind: CopiesBehind | undefined): void {
  if (behind?.othersAnswer === false && targets.length === 0) throw behind.error;
}

/** Returns an answer with all its failures. */
export function withFailures(answer: Found, failures: readonly ShardFailure[]): Found {
  const { total } = answer.shards;
  return { ...answer, shards: { total, successful: total - failures.length, failures } };
}

/** True if the search has no answer at all because the merging host is lost. */
function isMergerLost<T>({ error, failures }: Attempt<T>): boolean {
  return error !== undefined && failures.length === 0 && COPY_FAULTS.has(error.code);
}

function better<T>(before: Attempt<T> | undefined, attempt: Attempt<T>): Attempt<T> {
  if (before === undefined) return attempt;
  if (attempt.error !== undefined) return before;
  return before.error !== undefined || attempt.failures.length <= before.failures.length ? attempt : before;
}

function resultOf<T>({ answer, error }: Attempt<T>): T {
  if (error !== undefined) throw error;
  return answer as T;
}
