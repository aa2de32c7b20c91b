/** Counts how often a request waits for the state: calls that are made at once are one wait. */

import { setImmediate as turn } from "node:timers/promises";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

const CALLS = ["get", "create", "put", "update", "delete", "keys"] as const;

/** Turns of the event loop without another call after which the calls under way are let through. */
const QUIET_TURNS = 100;

/**
 * Holds the calls of `bucket` until nothing else happens, lets all of them through at once, and so on until `run` has
 * ended. Returns how often it did so, and the kinds of the records that were waited for each time, sorted. Throws what
 * `run` throws.
 */
export async function countWaits(bucket: StateBucket, run: () => Promise<unknown>): Promise<string[][]> {
  const waits: string[][] = [];
  const own = Object.fromEntries(CALLS.map((name) => [name, Object.getOwnPropertyDescriptor(bucket, name)]));
  let held: { readonly name: string; readonly go: () => void }[] = [];
  let quietTurns = 0;
  for (const name of CALLS) {
    const call = bucket[name].bind(bucket) as (key: string, ...rest: unknown[]) => Promise<unknown>;
    const hold = async (key: string, ...rest: unknown[]): Promise<unknown> => {
      quietTurns = 0;
      await new Promise<void>((go) => void held.push({ name: `${name} ${kindOf(key)}`, go }));
      return call(key, ...rest);
    };
    Object.defineProperty(bucket, name, { value: hold, configurable: true });
  }
  const release = (): string[] => {
    const calls = held;
    held = [];
    for (const { go } of calls) go();
    return calls.map((each) => each.name).sort();
  };
  const restore = (): void => {
    for (const name of CALLS) {
      const before = own[name];
      if (before === undefined) Reflect.deleteProperty(bucket, name);
      else Object.defineProperty(bucket, name, before);
    }
  };
  let isOver = false;
  const over = run().finally(() => {
    isOver = true;
  });
  over.catch(() => undefined); // thrown below
  try {
    while (!isOver) {
      await turn();
      if (held.length > 0 && ++quietTurns >= QUIET_TURNS) waits.push(release());
    }
    await over;
  } finally {
    restore();
    release();
  }
  return waits;
}

/** Returns the part of a key before its id: "oauth.Grant" of "oauth.Grant.<hash>". */
function kindOf(key: string): string {
  return /^oauth\.\w+|^[^.]+/.exec(key)?.[0] ?? "";
}
