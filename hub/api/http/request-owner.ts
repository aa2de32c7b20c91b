/** The owner that the request under way is charged to. Code far below the dispatcher asks for it, also in background work that the request began. */

import { AsyncLocalStorage } from "node:async_hooks";

/** Owner of what no request asked for. */
const HUB = "hub";

const underWay = new AsyncLocalStorage<string>();

/** Runs `run`, and all that it awaits, for a request of `owner`: a principal, or an address without a sign-in. */
export function asOwner<T>(owner: string, run: () => T): T {
  return underWay.run(owner, run);
}

/** Returns the owner of the request under way. */
export function requestOwner(): string {
  return underWay.getStore() ?? HUB;
}
