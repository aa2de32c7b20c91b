/** Metrics of the HTTP interfaces. */

import type { Metrics } from "#proto/kit/metrics.ts";

export interface ApiMetrics {
  /** Starts the clock of a request; the function returned counts it by the route's first path and the status. */
  begin(): (route: string, status: number) => void;
}

/** Upper bounds of the duration's buckets, s. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export function apiMetrics(metrics: Metrics): ApiMetrics {
  const requests = metrics.counter("tailrace_api_requests_total", "requests answered", ["route", "status"]);
  const duration = metrics.histogram(
    "tailrace_api_request_seconds",
    "time from the head of a request to its answer",
    [],
    BUCKETS,
  );
  return {
    begin() {
      const end = duration.startTimer();
      return (route, status) => {
        end();
        requests.inc({ route, status: String(status) });
      };
    },
  };
}
