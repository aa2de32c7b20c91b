/**
 * Opens scrolls and points in time over copies of several hubs. If a hub keeps no snapshot at the opening, another hub with
 * a copy replaces it. After the opening a shard can't change its hub: two copies have rarely applied the same part of the
 * log.
 */

import { shardKey } from "#hub/cluster/shards/shard-folders.ts";
import type * as calls from "#hub/host/contract/calls.ts";
import { addressKey, type HubThread } from "#hub/host/contract/calls.ts";
import type { Found } from "#hub/host/contract/found.ts";
import type { FoundDocuments } from "#hub/host/contract/hosted-shards.ts";
import type { ShardFailure } from "#hub/search/phases/contract.ts";
import { toAppError } from "#proto/kit/errors.ts";
import {
  type ChosenCopiesOptions,
  COPY_FAULTS,
  checkKnown,
  MAX_TRIES,
  withFailures,
} from "./chosen-copies.ts";
import {
  type ChoiceOptions,
  choosePlan,
  copyKey,
  hasOther,
  lackingShards,
  type Plan,
} from "./copy-choice.ts";
import { ForwardedShards } from "./forwarded-shards.ts";

type ContextCopiesOptions = Omit<ChosenCopiesOptions, "early" | "metrics">;

/** One attempt to open a context. */
interface Opening<T> {
  readonly call: calls.PointCall;
  readonly open: (targets: readonly calls.TargetIndex[]) => Promise<T>;
  /** Returns the shards without a snapshot. */
  readonly failed: (opened: T) => readonly calls.NamedShard[];
  /** Returns the opened context, with the shards that may lack writes as failed. */
  readonly lacking?: (opened: T, plan: Plan, sinceMs: number) => T;
}

export class ContextCopies extends ForwardedShards {
  readonly #options: ContextCopiesOptions;
  /** Threads of other hubs that keep snapshots for a context. */
  readonly #contexts = new Map<string, readonly HubThread[]>();

  constructor(options: ContextCopiesOptions) {
    super(options.own);
    this.#options = options;
  }

  override openContext(call: calls.ContextCall, signal: AbortSignal): Promise<Found> {
    return this.#opened({
      call,
      open: (targets) => super.openContext({ ...call, targets }, signal),
      failed: ({ shards }) => copyFaults(shards.failures),
      lacking: (...found) => this.#lacking(call.targets, ...found),
    });
  }

  override openDocuments(call: calls.ContextCall, signal: AbortSignal): Promise<FoundDocuments> {
    return this.#opened({
      call,
      open: (targets) => super.openDocuments({ ...call, targets }, signal),
      failed: () => [],
    });
  }

  override openPoint(call: calls.PointCall, signal: AbortSignal): Promise<calls.OpenedPoint> {
    return this.#opened({
      call,
      open: (targets) => super.openPoint({ ...call, targets }, signal),
      failed: ({ failed }) => failed,
    });
  }

  override closeContexts(ids: readonly string[]): void {
    super.closeContexts(ids);
    for (const id of ids) {
      for (const at of this.#contexts.get(id) ?? []) this.#options.thread(at).notify("closeContexts", [id]);
      this.#contexts.delete(id);
    }
  }

  /** Opens a context; opens it again without the failed copies if there are others. The last attempt counts. */
  async #opened<T>(opening: Opening<T>): Promise<T> {
    const { call } = opening;
    const { holders, shards, clock } = this.#options;
    const startMs = clock.monotonic();
    const behind = this.#options.behind();
    if (holders.isAlone && behind === undefined) return opening.open(call.targets);
    checkKnown(call.targets, behind);
    const failed = new Set<string>();
    for (let tries = 1; ; tries++) {
      const options: ChoiceOptions = { holders, shards, wish: undefined, failed, isLost: false };
      const plan = choosePlan(call.targets, options);
      this.#note(call.id, plan);
      const { opened, error, lost } = await tried(opening, plan.targets);
      for (const { uuid, shard } of lost) {
        const hub = plan.used.get(shardKey(uuid, shard));
        if (hub !== undefined) failed.add(copyKey(hub, uuid, shard));
      }
      const isOver = tries === MAX_TRIES || !lost.some(({ uuid, shard }) => hasOther(uuid, shard, options));
      if (isOver && error !== undefined) throw error;
      if (isOver) return opening.lacking?.(opened as T, plan, startMs) ?? (opened as T);
      this.closeContexts([call.id]);
    }
  }

  #lacking(targets: readonly calls.TargetIndex[], found: Found, plan: Plan, sinceMs: number): Found {
    const { behind, othersBehind, holders } = this.#options;
    const own = behind()?.error;
    const { failures } = found.shards;
    const lacking = lackingShards(targets, plan, this.#options, failures, (hub) =>
      hub === holders.node ? own : othersBehind(hub, sinceMs),
    );
    return lacking.length === 0 ? found : withFailures(found, [...failures, ...lacking]);
  }

  /** Records which hubs keep snapshots for a context. */
  #note(id: string, { targets }: Plan): void {
    const threads = targets.flatMap(({ elsewhere = [] }) => elsewhere.map(({ at }) => at));
    const byKey = new Map(threads.map((at) => [addressKey(at), at]));
    if (byKey.size > 0) this.#contexts.set(id, [...byKey.values()]);
  }
}

async function tried<T>(
  { open, failed }: Opening<T>,
  targets: readonly calls.TargetIndex[],
): Promise<{ readonly opened?: T; readonly error?: unknown; readonly lost: readonly calls.NamedShard[] }> {
  try {
    const opened = await open(targets);
    return { opened, lost: failed(opened) };
  } catch (error) {
    const failures = toAppError(error).data["failures"];
    return { error, lost: Array.isArray(failures) ? copyFaults(failures as ShardFailure[]) : [] };
  }
}

function copyFaults(failures: readonly ShardFailure[]): calls.NamedShard[] {
  return failures
    .filter(({ error }) => COPY_FAULTS.has(error.code))
    .map(({ indexUuid, shard }) => ({ uuid: indexUuid, shard }));
}
