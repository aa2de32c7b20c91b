/** Metrics that all inputs share, by input id. */

import type { Counter, Metrics } from "#proto/kit/metrics.ts";

export interface InputMetrics {
  /** Bytes of files that were gone before they were read. */
  readonly lostBytes: Counter<"input">;
  /** Bytes of NULs passed over. */
  readonly nulBytes: Counter<"input">;
  /** Bytes left out of events that were too long. */
  readonly truncatedBytes: Counter<"input">;
  /** Events that include_lines and exclude_lines left out. */
  readonly filtered: Counter<"input">;
  /** Messages that network inputs could not take. */
  readonly dropped: Counter<"input">;
  /** Files whose content was replaced. */
  readonly rewritten: Counter<"input">;
  readonly errors: Counter<"input">;
  readonly scans: Counter<"input">;
  /** Processor time of searches for files, s. */
  readonly scanSeconds: Counter<"input">;
}

/** Makes them. */
export function inputMetrics(metrics: Metrics): InputMetrics {
  return {
    lostBytes: metrics.counter(
      "tailrace_agent_lost_bytes_total",
      "Bytes of files that were gone before they were read.",
      ["input"],
    ),
    nulBytes: metrics.counter("tailrace_agent_nul_bytes_total", "Bytes of NULs passed over in files.", [
      "input",
    ]),
    truncatedBytes: metrics.counter(
      "tailrace_agent_truncated_bytes_total",
      "Bytes left out of events that were too long.",
      ["input"],
    ),
    filtered: metrics.counter("tailrace_agent_filtered_events_total", "Events that filters left out.", [
      "input",
    ]),
    dropped: metrics.counter(
      "tailrace_agent_dropped_messages_total",
      "Messages that a network input dropped because its buffers were full.",
      ["input"],
    ),
    rewritten: metrics.counter("tailrace_agent_rewritten_files_total", "Files whose content was replaced.", [
      "input",
    ]),
    errors: metrics.counter("tailrace_agent_input_errors_total", "Failures to open or read.", ["input"]),
    scans: metrics.counter("tailrace_agent_scans_total", "Searches for files.", ["input"]),
    scanSeconds: metrics.counter(
      "tailrace_agent_scan_cpu_seconds_total",
      "Processor time that searches for files took.",
      ["input"],
    ),
  };
}
