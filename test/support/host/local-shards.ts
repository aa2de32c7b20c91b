/** For tests: the operations of a host called directly, with everything encoded as on the way to a thread. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { ONLY_HOST } from "#hub/cluster/shards/shard-owner.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import type { OperationName } from "#hub/host/contract/calls.ts";
import { OPERATIONS } from "#hub/host/operations/all.ts";
import { type HostState, hostState } from "#hub/host/operations/operation.ts";
import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { IndexFixture } from "#test/support/search/shards.ts";

/** A host; without `ask` there are no others. */
export interface LocalHost
  extends Pick<HostState, "indices" | "clock">,
    Partial<Pick<HostState, "results" | "contexts" | "snapshots" | "ask">> {
  readonly shards: Omit<HostState["shards"], "searcher"> & Partial<Pick<HostState["shards"], "searcher">>;
}

/** Returns the shards of `given`. */
export function localShards(given: LocalHost): ShardsClient {
  const host = stateOf(given);
  return new ShardsClient({
    async call(operation, given, { parts = [], signal = new AbortController().signal } = {}) {
      try {
        const call = { operation, value: copied(given), parts, signal };
        const { value, parts: answered = [] } = await OPERATIONS[operation as OperationName](host, call);
        return { value: copied(value), parts: answered.map((part) => part.slice()) };
      } catch (error) {
        throw copied(toAppError(error)) as AppError;
      }
    },
    notify: (operation, value) => {
      if (operation !== "closeContexts") return;
      host.contexts.close(value as readonly string[]);
      host.snapshots.close(value as readonly string[]);
    },
  });
}

/** Returns the shards of a fixture as those of a host. */
export function fixtureShards({ shards }: IndexFixture): ShardsClient {
  const [first] = shards;
  const { name, uuid } = first!.index;
  const { mapping } = first!.searcher;
  const settings = { numberOfShards: shards.length };
  const index = { name, uuid, state: "open", mapping, aliases: {}, settings } as IndexMetadata;
  return localShards({
    shards: {
      searchers: () =>
        shards.map(({ shard, searcher }) => ({
          index,
          shard,
          searcher: { ...searcher, close: () => undefined },
        })),
    } as unknown as HostState["shards"],
    indices: { byUuid: (wanted) => (wanted === uuid ? index : undefined) },
    clock: systemClock,
  });
}

function stateOf({ shards, ...given }: LocalHost): HostState {
  const whole: HostState["shards"] = {
    searcher: () => {
      throw new AppError("unavailable", "no other host asks for shards");
    },
    ...shards,
  };
  const made = hostState({
    ...given,
    shards: whole,
    placed: { isAbsent: () => false, holds: () => false },
    metrics: new Metrics(),
    seat: ONLY_HOST,
    ask: () => Promise.reject(new AppError("unavailable", "there is no other host")),
  });
  return { ...made, ...given };
}

function copied(value: unknown): unknown {
  return decodeValue(encodeValue(value));
}
