/** Metrics of live viewers. */

import type { Counter, Gauge, Metrics } from "#proto/kit/metrics.ts";

export interface LiveMetrics {
  readonly sockets: Gauge;
  readonly tails: Gauge;
  readonly calls: Counter<"kind">;
  readonly rowsMatched: Counter;
  readonly rowsSent: Counter;
  readonly rowsSkipped: Counter<"reason">;
  readonly refused: Counter<"reason">;
  readonly closed: Counter<"code">;
}

/** Declares the metrics; call once per process. */
export function liveMetrics(metrics: Metrics): LiveMetrics {
  return {
    sockets: metrics.gauge("tailrace_live_sockets", "Open sockets of live viewers."),
    tails: metrics.gauge("tailrace_live_tails", "Tails that viewers have open."),
    calls: metrics.counter("tailrace_live_calls_total", "Calls and searches over live sockets, by kind.", [
      "kind",
    ]),
    rowsMatched: metrics.counter("tailrace_live_rows_matched_total", "Lines that matched a tail's filter."),
    rowsSent: metrics.counter("tailrace_live_rows_sent_total", "Lines sent to live viewers."),
    rowsSkipped: metrics.counter(
      "tailrace_live_rows_skipped_total",
      "Lines left out of a tail and shown there as a gap, by reason.",
      ["reason"],
    ),
    refused: metrics.counter(
      "tailrace_live_refused_total",
      "Sockets, tails and messages of viewers refused, by reason.",
      ["reason"],
    ),
    closed: metrics.counter("tailrace_live_closed_total", "Sockets the hub closed, by close code.", ["code"]),
  };
}
