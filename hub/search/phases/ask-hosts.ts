/** Asks several hosts at the same time. A host that can't answer is one whose shards failed. */

import { type AppError, toAppError } from "#proto/kit/errors.ts";
import type { CallShard, PartialResult } from "./search-call.ts";

export interface Question<Target, Answer> {
  readonly ask: (target: Target, signal: AbortSignal) => Promise<Answer>;
  /** The answer used for a host that gave none. */
  readonly unanswered: (failures: PartialResult["failures"]) => Answer;
  /** Drops an answer because another host refused the request. */
  readonly discard?: (answer: Answer) => void;
}

/** Returns the answers in the order of `targets`. Throws what a host says of the request, which ends the others; cancelled. */
export async function askHosts<Target extends { readonly shards: readonly CallShard[] }, Answer>(
  targets: readonly Target[],
  signal: AbortSignal,
  { ask, unanswered, discard }: Question<Target, Answer>,
): Promise<Answer[]> {
  const ended = new AbortController();
  // By a listener: each listener of a signal that AbortSignal.any makes costs several times as much.
  const end = (): void => ended.abort();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  const one = async (target: Target): Promise<Answer> => {
    try {
      return await ask(target, ended.signal);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (isHostFault(error)) return unanswered(failuresOf(target.shards, error));
      end();
      throw error;
    }
  };
  const settled = await Promise.allSettled(targets.map(one));
  signal.removeEventListener("abort", end);
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const errors = settled.flatMap((each) => (each.status === "rejected" ? [toAppError(each.reason)] : []));
  if (errors.length === 0) return answers;
  for (const answer of answers) discard?.(answer);
  // The others were cancelled because of it.
  throw errors.find(({ code }) => code !== "cancelled") ?? errors[0]!;
}

/** False for what any host would say of the request, and for cancellation. */
function isHostFault({ status, code }: AppError): boolean {
  return status >= 500 || code === "overloaded";
}

/** Returns the failures of a host's shards. */
export function failuresOf(shards: readonly CallShard[], error: AppError): PartialResult["failures"] {
  return shards.map(({ order, shard, index: { name, uuid } }) => {
    return { order, failure: { index: name, indexUuid: uuid, shard, error } };
  });
}
