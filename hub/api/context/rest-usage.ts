/** Counts which actions of the search interface were used since the start of this hub. */

import type { Method } from "#hub/api/http/request.ts";
import type { Route } from "#hub/api/http/route.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { restActionOf } from "./rest-actions.ts";

export class RestUsage {
  /** Time from which on it counts, ms. */
  readonly sinceMs: number;
  readonly #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.sinceMs = clock.now();
  }

  /** Counts a request whose parameters are right, as 6.5 does. */
  count(method: Method, route: Route): void {
    const name = restActionOf(method, route);
    if (name !== undefined) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Requests by the name of their action, in the order of the names. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
