/**
 * Decides which pipelines run: those of files, which are checked regularly for changes, and those created through the
 * API. A change is validated first; an invalid one is logged once and otherwise ignored.
 */

import type { EcsCompatibility, PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import {
  type ManagedPipeline,
  type ManagedPipelines,
  managedDefinition,
  missingPipeline,
} from "./managed-pipelines.ts";
import { type PipelineFilesOptions, readPipelineFiles } from "./pipeline-files.ts";

/** What runs pipelines. */
export interface PipelineRunner {
  readonly definitions: readonly PipelineDefinition[];
  /** Throws settings_invalid; then nothing changes. */
  reload(definitions: readonly PipelineDefinition[]): Promise<void>;
}

export interface PipelineControlOptions {
  readonly files: PipelineFilesOptions;
  readonly managed: ManagedPipelines;
  /** config.reload.automatic */
  readonly automatic: boolean;
  /** config.reload.interval, ms. */
  readonly intervalMs: number;
  readonly log: Logger;
  readonly clock: Clock;
  /** pipeline.ecs_compatibility: of pipelines that don't say themselves; without it each plugin does as it does by itself. */
  readonly ecsCompatibility?: EcsCompatibility;
  /** Returns what `${NAME}` stands for in the pipelines' texts; the environment without it. */
  readonly variables?: () => Promise<Variables>;
  /** See OutputContext.signInPort. */
  readonly signInPort?: number | undefined;
}

/** A pipeline with where it comes from. */
export interface KnownPipeline {
  readonly id: string;
  readonly origin: "files" | "page";
  readonly files: PipelineDefinition["files"];
  /** Only of the page's. */
  readonly managed?: ManagedPipeline;
  readonly isRunning: boolean;
}

/** A watch that ended is begun again after this long. */
const WATCH_AGAIN_MS = 1_000;

export class PipelineControl implements Component {
  readonly #options: PipelineControlOptions;
  readonly #stopping = new AbortController();
  #runner: PipelineRunner | undefined;
  #tasks: Promise<void>[] = [];
  #fromFiles: readonly PipelineDefinition[] = [];
  /** The last refusal, so that it is logged once. */
  #refused = "";
  /** Why the last change of files wasn't taken over; empty: it was. */
  #problem = "";
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: PipelineControlOptions) {
    this.#options = options;
  }

  /**
   * Returns the pipelines to start with. Throws settings_invalid where files are at fault; an invalid stored pipeline
   * is left out and logged.
   */
  async initial(): Promise<PipelineDefinition[]> {
    const { files, managed, log } = this.#options;
    this.#fromFiles = readPipelineFiles(files);
    const ids = new Set(this.#fromFiles.map(({ id }) => id));
    const usable: PipelineDefinition[] = [];
    for (const pipeline of await managed.list()) {
      const definition = managedDefinition(pipeline);
      if (ids.has(pipeline.id)) continue;
      try {
        await this.#check([definition]);
        usable.push(definition);
      } catch (error) {
        log.error(
          { err: error, pipeline: pipeline.id },
          "a pipeline of the page can't be used and is left out",
        );
      }
    }
    return this.#withDefaults([...this.#fromFiles, ...usable]);
  }

  /** Begins to follow changes for `runner`. */
  follow(runner: PipelineRunner): void {
    this.#runner = runner;
  }

  async start(): Promise<void> {
    this.#tasks = [this.#followManaged(), ...(this.#options.automatic ? [this.#lookNowAndThen()] : [])];
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#tasks);
    await this.#changes;
  }

  /** Why the last change of the files wasn't taken over; empty: it was. */
  get problem(): string {
    return this.#problem;
  }

  /** Reads the files again now. Throws settings_invalid; then what runs runs on, and `problem` has the reason. */
  async refresh(): Promise<void> {
    try {
      await this.#alone(() => this.#apply());
    } catch (error) {
      this.#problem = toAppError(error).message;
      throw error;
    }
  }

  async list(): Promise<KnownPipeline[]> {
    const running = new Set(this.#runner?.definitions.map(({ id }) => id));
    const ids = new Set(this.#fromFiles.map(({ id }) => id));
    const managed = (await this.#options.managed.list()).filter(({ id }) => !ids.has(id));
    return [
      ...this.#fromFiles.map(({ id, files }) => ({
        id,
        origin: "files" as const,
        files,
        isRunning: running.has(id),
      })),
      ...managed.map((each) => ({
        id: each.id,
        origin: "page" as const,
        files: managedDefinition(each).files,
        managed: each,
        isRunning: running.has(each.id),
      })),
    ];
  }

  /** Throws not_found. */
  async get(id: string): Promise<KnownPipeline> {
    const found = (await this.list()).find((pipeline) => pipeline.id === id);
    if (found === undefined) throw missingPipeline(id);
    return found;
  }

  /** Checks a pipeline, stores it and continues with it. Throws settings_invalid, request_invalid, journal_conflict. */
  put(
    id: string,
    content: { readonly text: string; readonly description: string; readonly by: string },
    revision?: number,
  ): Promise<ManagedPipeline> {
    return this.#alone(async () => {
      this.#requireOfPage(id);
      const others = (this.#runner?.definitions ?? []).filter((each) => each.id !== id);
      await this.#check([...others, managedDefinition({ id, text: content.text })]);
      const { text, description, by } = content;
      const updated = new Date(this.#options.clock.now()).toISOString();
      const stored = await this.#options.managed.put(
        id,
        { text, description, updated, updatedBy: by },
        revision,
      );
      await this.#apply();
      return stored;
    });
  }

  /** Throws not_found, request_invalid, journal_conflict. */
  delete(id: string, revision?: number): Promise<void> {
    return this.#alone(async () => {
      this.#requireOfPage(id);
      await this.#options.managed.delete(id, revision);
      await this.#apply();
    });
  }

  #requireOfPage(id: string): void {
    const ofFiles = this.#fromFiles.find((each) => each.id === id);
    if (ofFiles === undefined) return;
    throw new AppError(
      "request_invalid",
      `the pipeline "${id}" is defined by ${ofFiles.files[0]!.path}: change that file, or choose another id`,
    );
  }

  /** One change after the other. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(change);
    this.#changes = done.catch(() => undefined);
    return done;
  }

  /** Takes over what files and bucket say now, where it is something else than what runs. */
  async #apply(): Promise<void> {
    const runner = this.#runner;
    if (runner === undefined) return;
    const fromFiles = readPipelineFiles(this.#options.files);
    const ids = new Set(fromFiles.map(({ id }) => id));
    const managed = (await this.#options.managed.list())
      .map(managedDefinition)
      .filter(({ id }) => !ids.has(id));
    const wanted = this.#withDefaults([...fromFiles, ...managed]);
    if (JSON.stringify(wanted) === JSON.stringify(runner.definitions)) {
      this.#problem = "";
      return;
    }
    await runner.reload(wanted);
    this.#fromFiles = fromFiles;
    this.#problem = "";
    this.#options.log.info({ pipelines: wanted.map(({ id }) => id) }, "the pipelines were changed");
  }

  async #tryApply(): Promise<void> {
    try {
      await this.refresh();
      this.#refused = "";
    } catch (error) {
      const failure = toAppError(error);
      if (this.#stopping.signal.aborted || failure.message === this.#refused) return;
      this.#refused = failure.message;
      this.#options.log.error({ err: failure }, "changed pipelines can't be used; those before run on");
    }
  }

  async #lookNowAndThen(): Promise<void> {
    const { clock, intervalMs } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await clock.sleep(intervalMs, signal);
      if (signal.aborted) return;
      await this.#tryApply();
    }
  }

  async #followManaged(): Promise<void> {
    const { clock, managed, log } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for await (const _ of managed.changes(signal)) await this.#tryApply();
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, "the pipelines of the page can't be watched for now");
      }
      await clock.sleep(WATCH_AGAIN_MS, signal);
    }
  }

  #withDefaults(definitions: readonly PipelineDefinition[]): PipelineDefinition[] {
    const { ecsCompatibility } = this.#options;
    return definitions.map((each) => ({
      ...(ecsCompatibility !== undefined && { ecsCompatibility }),
      ...each,
    }));
  }

  /** Throws settings_invalid. The language is loaded only where there is something to check. */
  async #check(definitions: readonly PipelineDefinition[]): Promise<void> {
    const { planPipelines } = await import("../program/plan.ts");
    const variables = (await this.#options.variables?.()) ?? process.env;
    await planPipelines(this.#withDefaults(definitions), variables, this.#options.signInPort);
  }
}
