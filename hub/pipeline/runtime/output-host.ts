/** The writers of all pipelines' outputs, each after its queue. */

import { isAbsolute, relative, resolve } from "node:path";
import type { OutputRecord } from "#hub/pipeline/plugins/output.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { PlannedOutput } from "../program/plan.ts";
import { OutputQueue, type RefusedRecord } from "./output-queue.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";

/** What outputs may reach, as the hub's settings say. */
export interface OutputReach {
  /** Folder that relative paths of files start from. */
  readonly folder: string;
  /** Further folders that files may be written to. */
  readonly folders: readonly string[];
  /** Throws forbidden where pipelines may not connect to the host. */
  checkTarget(host: string): void;
  /** Returns a token of a connection. Throws not_found, unauthenticated. */
  bearer(connection: string, host: string, rejected?: string): Promise<string>;
  /** See WriterContext. */
  feed(address: string, records: readonly OutputRecord[]): Promise<void>;
}

export interface OutputHostOptions {
  readonly outputs: readonly PlannedOutput[];
  readonly reach: OutputReach;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: PipelineMetrics;
  /** Ends all attempts. */
  readonly signal: AbortSignal;
}

export class OutputHost {
  readonly #outputs: readonly PlannedOutput[];
  readonly #log: Logger;
  readonly #queues: readonly (OutputQueue | undefined)[];

  constructor({ outputs, reach, log, clock, metrics, signal }: OutputHostOptions) {
    this.#outputs = outputs;
    this.#log = log;
    this.#queues = outputs.map(({ pipeline, output, isManaged }) => {
      const labels = { pipeline, plugin: output.id };
      const writer = output.makeWriter({
        id: output.id,
        log,
        clock,
        bearer: (...asked) => reach.bearer(...asked),
        feed: (address, records) => reach.feed(address, records),
        writablePath: (path) => writablePath(path, reach),
        checkTarget: (host) => {
          if (isManaged) reach.checkTarget(host);
        },
      });
      if (writer === undefined) return undefined;
      return new OutputQueue({
        id: output.id,
        writer,
        clock,
        log,
        signal,
        delivered: (records) => metrics.outputRecords.inc(labels, records),
        retried: () => metrics.outputRetries.inc(labels),
      });
    });
  }

  /** Name of the plugin of an output. */
  nameOf(output: number): string {
    return this.#outputs[output]?.output.name ?? "output";
  }

  /** Why an output can't deliver, by pipeline and plugin. */
  failures(): { readonly pipeline: string; readonly plugin: string; readonly reason: string }[] {
    return this.#outputs.flatMap(({ pipeline, output: { id } }, place) => {
      const reason = this.#queues[place]?.failure;
      return reason === undefined ? [] : [{ pipeline, plugin: id, reason }];
    });
  }

  /** Resolves when an output has the records, with those that it refuses. Rejects with `cancelled` at the stop. */
  write(output: number, records: readonly OutputRecord[]): Promise<readonly RefusedRecord[]> {
    return this.#queues[output]?.write(records) ?? Promise.resolve([]);
  }

  /** Takes no further records and waits for the writes under way, see OutputQueue.settle. */
  async settle(patienceMs: number): Promise<void> {
    await Promise.all(this.#queues.map(async (queue) => queue?.settle(patienceMs)));
  }

  /**
   * Closes the writers; the signal must be aborted. A failure, such as that of a file on a full share, is only logged: nothing is
   * written any more, and cursors are still to be stored.
   */
  async stop(): Promise<void> {
    const stop = async (place: number): Promise<void> => {
      const { pipeline, output } = this.#outputs[place]!;
      try {
        await this.#queues[place]?.stop();
      } catch (error) {
        this.#log.warn({ err: error, pipeline, output: output.id }, "an output didn't close in order");
      }
    };
    await Promise.all(this.#queues.keys().map(stop));
  }
}

/** Returns the absolute path. Throws forbidden if it is outside the folders that are allowed. */
function writablePath(path: string, { folder, folders }: OutputReach): string {
  const absolute = resolve(folder, path);
  const isInside = [folder, ...folders].some((each) => {
    const way = relative(resolve(each), absolute);
    return way !== "" && !way.startsWith("..") && !isAbsolute(way);
  });
  if (isInside) return absolute;
  throw new AppError(
    "forbidden",
    `outputs may not write to ${absolute}: use a path below ${folder}, or name its folder in pipeline.output.paths`,
  );
}
