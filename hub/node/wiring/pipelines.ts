/** The pipelines of a hub: their definitions, their inputs, and what their plugins may access. */

import { hostname } from "node:os";
import { join } from "node:path";
import type { PartitionRunner } from "#hub/cluster/allocation/partition-owner.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { pipelineVariables, shownVariables } from "#hub/node/settings/keystore.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import { openSharedInputs } from "#hub/node/wiring/shared-inputs.ts";
import { ManagedPipelines } from "#hub/pipeline/definitions/managed-pipelines.ts";
import { PipelineControl } from "#hub/pipeline/definitions/pipeline-control.ts";
import type { InputDeadLetter } from "#hub/pipeline/plugins/input.ts";
import { InputStates } from "#hub/pipeline/runtime/input-states.ts";
import { Pipeline } from "#hub/pipeline/runtime/pipeline.ts";
import type { PipelineOptions } from "#hub/pipeline/runtime/pipeline-options.ts";
import type { InputReach } from "#hub/pipeline/runtime/running-input.ts";
import type { SharedInputs } from "#hub/pipeline/runtime/shared-inputs.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { type Position, START } from "#proto/position.ts";

/** Polling interval of a dead letter reader that has read everything, ms. */
const DEAD_LETTER_POLL_MS = 1_000;
const DEAD_LETTERS_AT_ONCE = 100;

/** Id of the built-in pipeline, which runs if none is configured. */
const BUILT_IN = "main";

export interface PipelinesOptions
  extends Pick<
    PipelineOptions,
    "source" | "sink" | "deadLetters" | "cursors" | "metrics" | "listener" | "events" | "losses" | "sharing"
  > {
  readonly settings: HubSettings;
  readonly journal: Journal;
  readonly version: string;
  readonly cluster: ClusterNode;
  /** path.data, absolute. */
  readonly folder: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Returns a token of a connection that an administrator created. */
  readonly bearer: (connection: string, host: string, rejected?: string) => Promise<string>;
  /** Returns true if an Authorization header allows its sender to ingest into every index. */
  readonly mayIngest: (authorization: string, ip: string) => Promise<boolean>;
}

export class Pipelines implements Component, PartitionRunner {
  readonly control: PipelineControl;
  readonly #options: PipelinesOptions;
  readonly #states: InputStates;
  readonly #shared: SharedInputs;
  #pipeline: Pipeline | undefined;
  #prepared: Promise<Pipeline> | undefined;
  readonly #onHangup = (): void => {
    this.control.refresh().catch((error: unknown) => {
      this.#options.log.error(
        { err: error },
        "the changed pipelines are invalid; the previous ones keep running",
      );
    });
  };

  static async open(options: PipelinesOptions): Promise<Pipelines> {
    const { journal, cluster, log, folder } = options;
    const local = new InputStates(join(folder, "inputs"));
    const shared = await openSharedInputs({ journal, cluster, local, log });
    return new Pipelines(options, new ManagedPipelines(await journal.bucket("pipelines")), local, shared);
  }

  private constructor(
    options: PipelinesOptions,
    managed: ManagedPipelines,
    states: InputStates,
    shared: SharedInputs,
  ) {
    const { settings, log, clock, folder } = options;
    this.#options = options;
    this.#states = states;
    this.#shared = shared;
    const ecs = settings["pipeline.ecs_compatibility"];
    this.control = new PipelineControl({
      files: { paths: settings["path.config"], pipelinesFile: settings["path.pipelines"] },
      managed,
      automatic: settings["config.reload.automatic"],
      intervalMs: parseDuration(settings["config.reload.interval"]),
      log,
      clock,
      variables: () => pipelineVariables(folder, process.env),
      signInPort: signInPort(settings),
      ...(ecs !== "plugin" && { ecsCompatibility: ecs }),
    });
  }

  /** The running pipelines; valid after `start`. */
  get pipeline(): Pipeline {
    if (this.#pipeline === undefined) throw new Error("the pipelines are not started");
    return this.#pipeline;
  }

  /** Position in RAW up to which everything is processed; undefined before `start`. */
  get processed(): Position | undefined {
    return this.#pipeline?.floor;
  }

  /** See Pipeline.written. */
  get written(): Position {
    return this.#pipeline?.written ?? START;
  }

  /** See Pipeline.isStateful. */
  get isStateful(): boolean {
    return this.#pipeline?.isStateful ?? false;
  }

  /** See Pipeline.assign. Throws closed before `start` and after `stop`. */
  assign(partitions: ReadonlySet<number>): Promise<void> {
    return this.pipeline.assign(partitions);
  }

  /** See Pipeline.resume. Before `start` there is nothing to resume. */
  async resume(): Promise<void> {
    await this.#pipeline?.resume();
  }

  /** See Pipeline.abandon. */
  abandon(): void {
    this.#pipeline?.abandon();
  }

  /** Returns the problems: inputs that can't run, outputs that can't deliver, and an invalid change. */
  problem(): string {
    const { inputs = [], failures = [], problem = "" } = this.#pipeline?.status() ?? {};
    const failing = inputs
      .filter(({ state }) => state === "failing")
      .map(({ pipeline, name, reason }) => `input ${name} of pipeline ${pipeline}: ${reason}`);
    const outputs = failures.map(
      ({ pipeline, plugin, reason }) => `output ${plugin} of pipeline ${pipeline}: ${reason}`,
    );
    return [this.control.problem, problem, ...failing, ...outputs].filter((text) => text !== "").join("; ");
  }

  /** Returns the values of `${NAME}` with secrets replaced. */
  shownVariables(): Promise<Record<string, string>> {
    return shownVariables(this.#options.folder, process.env);
  }

  /** Returns the known pipelines; without any, the built-in one. */
  async facts(): Promise<{ id: string; origin: "files" | "page" | "built-in"; running: boolean }[]> {
    const known = await this.control.list();
    if (known.length === 0) return [{ id: BUILT_IN, origin: "built-in", running: true }];
    return known.map(({ id, origin, isRunning }) => ({ id, origin, running: isRunning }));
  }

  /** Starts planning the pipelines and starting their threads; `start` awaits that and throws its errors. */
  prepare(): void {
    this.#prepared ??= this.#prepare();
    this.#prepared.catch(() => undefined);
  }

  /** Throws settings_invalid for invalid pipeline files. */
  async start(): Promise<void> {
    this.prepare();
    const pipeline = await this.#prepared!;
    this.#pipeline = pipeline;
    await pipeline.start();
    this.control.follow(pipeline);
    await this.control.start();
    process.on("SIGHUP", this.#onHangup);
  }

  async stop(): Promise<void> {
    process.off("SIGHUP", this.#onHangup);
    await this.control.stop();
    await (await this.#prepared?.catch(() => undefined))?.stop();
    await this.#states.stop();
  }

  async #prepare(): Promise<Pipeline> {
    const { settings, hub, inputs, outputs, ...options } = { ...this.#options, ...this.#reach() };
    const pipeline = new Pipeline({
      ...options,
      hub,
      inputs,
      outputs,
      variables: () => pipelineVariables(this.#options.folder, process.env),
      trustedProxies: settings["network.trusted_proxies"],
      signInPort: signInPort(settings),
      settings: {
        id: BUILT_IN,
        pipelines: await this.control.initial(),
        workers: settings["pipeline.workers"],
        batchSize: settings["pipeline.bath.size"],
        batchDelayMs: settings["pipeline.batch.delay"],
      },
    });
    pipeline.prepare().catch(() => undefined); // `start` throws it
    return pipeline;
  }

  #reach(): Pick<PipelineOptions, "hub"> & Required<Pick<PipelineOptions, "inputs" | "outputs">> {
    const { settings, journal, version, cluster, folder, bearer, mayIngest } = this.#options;
    const allowed = settings["pipeline.allowed_hosts"];
    const checkTarget = (host: string): void => checkHost(host, allowed);
    const inputs: InputReach = {
      publish: (subject, data, options) => journal.publish(subject, data, options),
      states: this.#states,
      shared: this.#shared,
      hubName: settings["node.name"],
      hostName: hostname(),
      version,
      bearer,
      mayIngest,
      checkTarget,
      deadLetters: (after, signal) => followDeadLetters(journal, after, signal, this.#options.clock),
    };
    return {
      hub: cluster.identity.node,
      inputs,
      outputs: {
        folder: join(folder, "out"),
        folders: settings["pipeline.output.paths"],
        checkTarget,
        bearer,
      },
    };
  }
}

/** `*.example.net` matches all subdomains, `*` every host. */
function checkHost(host: string, allowed: readonly string[]): void {
  const isAllowed = allowed.some(
    (each) => each === "*" || each === host || (each.startsWith("*.") && host.endsWith(each.slice(1))),
  );
  if (isAllowed) return;
  throw new AppError(
    "forbidden",
    `pipelines of the page may not connect to ${host}; an operator can add it to pipeline.allowed_hosts`,
  );
}

async function* followDeadLetters(
  journal: Journal,
  after: number,
  signal: AbortSignal,
  clock: Clock,
): AsyncIterable<InputDeadLetter> {
  let position = { incarnation: 0, sequence: after };
  while (!signal.aborted) {
    const letters = await journal.deadLetters(position, DEAD_LETTERS_AT_ONCE);
    for (const { position: at, reason, source, timeMs, data } of letters) {
      position = at;
      if (at.sequence > after) yield { sequence: at.sequence, reason, source, timeMs, data };
    }
    if (letters.length === 0) await clock.sleep(DEAD_LETTER_POLL_MS, signal);
  }
}

function signInPort(settings: HubSettings): number | undefined {
  return settings["auth.mode"] === "required" ? settings["http.port"] : undefined;
}
