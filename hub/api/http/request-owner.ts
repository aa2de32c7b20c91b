/**
 * The owner that the current request is charged to. It is available to code far below the dispatcher, also in background work
 * that the request started.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** Owner of work that no request started. */
const HUB = "hub";

const underWay = new AsyncLocalStorage<string>();

/** Runs `run`, and all that it awaits, as a request of `owner`: a principal, or without a sign-in an address. */
export function asOwner<T>(owner: string, run: () => T): T {
  return underWay.run(owner, run);
}

/** Returns the owner of the current request. */
export function requestOwner(): string {
  return underWay.getStore() ?? HUB;
}
