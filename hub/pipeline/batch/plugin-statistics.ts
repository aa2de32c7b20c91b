/** Statistics of each plugin of a program: counts of all events, durations of a sample. */

/** Times are taken of one event in this many: reading the clock costs as much as a small filter. */
const SAMPLE = 32;

/** Statistics of one plugin since the last `take`. */
export interface PluginStatistics {
  readonly id: string;
  readonly name: string;
  /** Events it was given. */
  readonly in: number;
  /** Events that left the plugin. */
  readonly out: number;
  /** Events it didn't work on, as a pattern that didn't match, or failed at. */
  readonly failures: number;
  /** Processing time, extrapolated from samples. */
  readonly ms: number;
  /** Longest time of a sample, ms. */
  readonly slowestMs: number;
}

/** What one pipeline's plugins did. */
export interface PipelineStatistics {
  readonly pipeline: string;
  readonly plugins: readonly PluginStatistics[];
}

interface Counts {
  readonly id: string;
  readonly name: string;
  in: number;
  out: number;
  failures: number;
  ms: number;
  slowestMs: number;
}

export class StatisticsCollector {
  readonly #counts: readonly (Counts | undefined)[];
  #run = 0;

  /** `plugins`: by the number of the instruction; undefined for an instruction without a plugin. */
  constructor(plugins: readonly ({ readonly id: string; readonly name: string } | undefined)[]) {
    this.#counts = plugins.map((plugin) =>
      plugin === undefined
        ? undefined
        : { id: plugin.id, name: plugin.name, in: 0, out: 0, failures: 0, ms: 0, slowestMs: 0 },
    );
  }

  /** An event begins; returns whether times are taken of it. */
  begin(): boolean {
    return this.#run++ % SAMPLE === 0;
  }

  passed(instruction: number, matched: boolean, cancelled: boolean): void {
    const counts = this.#counts[instruction]!;
    counts.in++;
    if (!cancelled) counts.out++;
    if (!matched) counts.failures++;
  }

  failed(instruction: number): void {
    const counts = this.#counts[instruction];
    if (counts === undefined) return;
    counts.in++;
    counts.failures++;
  }

  took(instruction: number, ms: number): void {
    const counts = this.#counts[instruction]!;
    counts.ms += ms * SAMPLE;
    if (ms > counts.slowestMs) counts.slowestMs = ms;
  }

  /** Returns the statistics of the plugins that had events since the last call. */
  take(): PluginStatistics[] {
    const taken: PluginStatistics[] = [];
    for (const counts of this.#counts) {
      if (counts === undefined || counts.in === 0) continue;
      taken.push({ ...counts });
      Object.assign(counts, { in: 0, out: 0, failures: 0, ms: 0, slowestMs: 0 });
    }
    return taken;
  }
}
