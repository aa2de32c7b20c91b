/** Metrics of the HTTP interfaces. */

import type { Metrics } from "#proto/kit/metrics.ts";

export interface ApiMetrics {
  /** Starts the clock of a request; the function returned counts it by the route's first path and the status. */
  begin(): (route: string, status: number) => void;
}

/** Upper bounds of the duration's buckets, s. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export function apiMetrics(metrics: Metrics): ApiMetrics {
  const answered = new Answered();
  metrics.counter("tailrace_api_requests_total", "requests answered", ["route", "status"], (counter) =>
    answered.take((route, status, count) => counter.inc({ route, status: String(status) }, count)),
  );
  const duration = metrics.histogram(
    "tailrace_api_request_seconds",
    "time from the head of a request to its answer",
    [],
    BUCKETS,
  );
  return {
    begin() {
      const startMs = performance.now();
      return (route, status) => {
        duration.observe((performance.now() - startMs) / 1000);
        answered.add(route, status);
      };
    },
  };
}

/** Requests answered since the last scrape. Finding a counter by its labels for each request would cost more. */
class Answered {
  readonly #byRoute = new Map<string, Map<number, number>>();

  add(route: string, status: number): void {
    let byStatus = this.#byRoute.get(route);
    if (byStatus === undefined) this.#byRoute.set(route, (byStatus = new Map()));
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  /** Calls `each` with every count and resets them. */
  take(each: (route: string, status: number, count: number) => void): void {
    for (const [route, byStatus] of this.#byRoute) {
      for (const [status, count] of byStatus) each(route, status, count);
      byStatus.clear();
    }
  }
}
