/** Metrics of the pipeline, all in one place. */

import type { PipelineStatistics, PluginStatistics } from "#hub/pipeline/batch/plugin-statistics.ts";
import type { IntakeShares } from "#hub/pipeline/plugins/input.ts";
import type { Counter, Gauge, Histogram, Metrics } from "#proto/kit/metrics.ts";
import { DROPS_HELP } from "#proto/kit/net/datagram-drops.ts";

export interface PipelineMetrics {
  readonly messages: Counter;
  readonly events: Counter;
  readonly documents: Counter;
  readonly dropped: Counter;
  readonly emptyLines: Counter;
  readonly nulBytes: Counter;
  readonly invalidUtf8: Counter;
  readonly repeatedBytes: Counter;
  readonly deadLetters: Counter<"plugin">;
  readonly sinkRetries: Counter;
  readonly cursorSaves: Counter;
  readonly cursorConflicts: Counter;
  readonly readErrors: Counter;
  readonly forgedMessages: Counter;
  readonly workerRestarts: Counter;
  readonly reloads: Counter<"result">;
  readonly outputRecords: Counter<"pipeline" | "plugin">;
  readonly outputRetries: Counter<"pipeline" | "plugin">;
  readonly inputEvents: Counter<"pipeline" | "plugin">;
  readonly inputRestarts: Counter<"pipeline" | "plugin">;
  readonly inputDrops: Counter<"pipeline" | "plugin">;
  readonly inputCuts: Counter<"pipeline" | "plugin">;
  readonly pluginIn: Counter<"pipeline" | "plugin">;
  readonly pluginOut: Counter<"pipeline" | "plugin">;
  readonly pluginFailures: Counter<"pipeline" | "plugin">;
  readonly pluginSeconds: Counter<"pipeline" | "plugin">;
  readonly inFlightBytes: Gauge;
  readonly sources: Gauge;
  readonly forgottenSources: Gauge;
  readonly closedGaps: Gauge;
  readonly seconds: Histogram;
}

/** What the gauges ask for. */
export interface PipelineGauges {
  inFlightBytes(): number;
  sources(): number;
  forgottenSources(): number;
  closedGaps(): number;
  readonly intake: IntakeShares;
}

/** Metrics with a label for the plugin. */
function pluginMetrics(metrics: Metrics) {
  const counter = (name: string, help: string): Counter<"pipeline" | "plugin"> =>
    metrics.counter(`tailrace_pipeline_${name}_total`, help, ["pipeline", "plugin"]);
  return {
    outputRecords: counter("output_records", "records that outputs delivered"),
    outputRetries: counter("output_retries", "failed tries of outputs to deliver"),
    inputEvents: counter("input_events", "events that inputs put into the log RAW"),
    inputRestarts: counter("input_restarts", "failed tries to start an input"),
    inputDrops: counter(
      "input_drops",
      `datagrams that an input dropped: the log takes them too slowly, or a message's other chunks are missing; ${DROPS_HELP}`,
    ),
    inputCuts: counter(
      "input_cut_messages",
      "lines and messages of more than 1 MiB, or than an address may hold, that an input took in parts with the tag line_cut",
    ),
    pluginIn: counter("plugin_events_in", "events that a filter or output was given"),
    pluginOut: counter("plugin_events_out", "events that went on behind a filter or output"),
    pluginFailures: counter("plugin_failures", "events that a filter didn't work on, or failed at"),
    pluginSeconds: counter("plugin_seconds", "time that a filter worked, projected from samples"),
  };
}

function intakeMetrics(metrics: Metrics, { connections, bytes }: IntakeShares): void {
  metrics.gauge("tailrace_pipeline_intake_connections", "open connections to inputs", [], (gauge) =>
    gauge.set(connections.taken),
  );
  metrics.gauge(
    "tailrace_pipeline_intake_bytes",
    "bytes that senders to inputs hold: of messages that aren't whole, and of bodies until they are in the log",
    [],
    (gauge) => gauge.set(bytes.taken),
  );
  metrics.counter(
    "tailrace_pipeline_intake_refused_total",
    "connections and messages refused because the sender's address, or all, held too much",
    ["of"],
    (counter) => {
      counter.reset();
      counter.inc({ of: "connections" }, connections.refused);
      counter.inc({ of: "bytes" }, bytes.refused);
    },
  );
}

/** Makes the metrics; once per process. */
export function pipelineMetrics(metrics: Metrics, gauges: PipelineGauges): PipelineMetrics {
  const counter = (name: string, help: string): Counter =>
    metrics.counter(`tailrace_pipeline_${name}_total`, help);
  intakeMetrics(metrics, gauges.intake);
  const deadLetters = metrics.counter(
    "tailrace_pipeline_dead_letters_total",
    "events given up, by who gave them up",
    ["plugin"],
  );
  // Shown as 0 while none is: an alert can't see the first event of a series that begins with it.
  deadLetters.inc({ plugin: "sink" }, 0);
  return {
    messages: counter("messages", "messages of the log RAW taken up"),
    events: counter("events", "events that entered the pipeline"),
    documents: counter("documents", "documents written to the log DOC"),
    dropped: counter("events_dropped", "events that a filter dropped on purpose"),
    emptyLines: counter("empty_lines", "lines without a byte; they make no event"),
    nulBytes: counter(
      "nul_bytes",
      "NULs at the start of lines passed over, as truncating rotation leaves them",
    ),
    invalidUtf8: counter("invalid_utf8_events", "events whose text had bytes that are no UTF-8"),
    repeatedBytes: counter("repeated_bytes", "bytes of sources sent once more and dropped"),
    deadLetters,
    sinkRetries: counter("sink_retries", "failed tries to write documents or dead letters"),
    cursorSaves: counter("cursor_saves", "cursors stored"),
    cursorConflicts: counter("cursor_conflicts", "partitions that another process took over"),
    readErrors: counter("read_errors", "failed reads of the log RAW; each is tried again"),
    forgedMessages: metrics.counter(
      "tailrace_pipeline_forged_messages_total",
      "messages of RAW refused as they name another sender than their subject",
    ),
    workerRestarts: counter(
      "worker_restarts",
      "threads of the pipeline that ended unasked and were replaced",
    ),
    reloads: metrics.counter(
      "tailrace_pipeline_reloads_total",
      "changes of pipelines taken over or refused",
      ["result"],
    ),
    ...pluginMetrics(metrics),
    inFlightBytes: metrics.gauge(
      "tailrace_pipeline_in_flight_bytes",
      "bytes read from the log RAW and not yet finished, with the documents made of them",
      [],
      (gauge) => gauge.set(gauges.inFlightBytes()),
    ),
    sources: metrics.gauge("tailrace_pipeline_cursor_sources", "sources whose ranges are kept", [], (gauge) =>
      gauge.set(gauges.sources()),
    ),
    forgottenSources: metrics.gauge(
      "tailrace_pipeline_cursor_forgotten_sources",
      "sources forgotten since the start because a partition has too many",
      [],
      (gauge) => gauge.set(gauges.forgottenSources()),
    ),
    closedGaps: metrics.gauge(
      "tailrace_pipeline_cursor_closed_gaps",
      "gaps in sources taken for processed because there were too many; above 0 data may be missing",
      [],
      (gauge) => gauge.set(gauges.closedGaps()),
    ),
    seconds: metrics.histogram("tailrace_pipeline_message_seconds", "time from the log RAW to the log DOC"),
  };
}

/** Statistics of one plugin since the start. */
interface PluginTotal extends PluginStatistics {
  readonly pipeline: string;
}

/** Plugins that are remembered; those of removed pipelines go first. */
const PLUGIN_LIMIT = 2_000;

export class PluginTotals {
  readonly #metrics: PipelineMetrics;
  readonly #totals = new Map<string, PluginTotal>();

  constructor(metrics: PipelineMetrics) {
    this.#metrics = metrics;
  }

  add(statistics: readonly PipelineStatistics[]): void {
    for (const { pipeline, plugins } of statistics) {
      for (const plugin of plugins) {
        const labels = { pipeline, plugin: plugin.id };
        this.#metrics.pluginIn.inc(labels, plugin.in);
        this.#metrics.pluginOut.inc(labels, plugin.out);
        this.#metrics.pluginFailures.inc(labels, plugin.failures);
        this.#metrics.pluginSeconds.inc(labels, plugin.ms / 1000);
        const key = `${pipeline}\n${plugin.id}`;
        const before = this.#totals.get(key);
        this.#totals.delete(key);
        this.#totals.set(key, {
          pipeline,
          id: plugin.id,
          name: plugin.name,
          in: (before?.in ?? 0) + plugin.in,
          out: (before?.out ?? 0) + plugin.out,
          failures: (before?.failures ?? 0) + plugin.failures,
          ms: (before?.ms ?? 0) + plugin.ms,
          slowestMs: Math.max(before?.slowestMs ?? 0, plugin.slowestMs),
        });
        const [oldest] = this.#totals.keys();
        if (this.#totals.size > PLUGIN_LIMIT && oldest !== undefined) this.#totals.delete(oldest);
      }
    }
  }

  all(): PluginTotal[] {
    return [...this.#totals.values()];
  }
}
