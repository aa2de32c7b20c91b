/**
 * The pipelines of a hub: reads RAW, has the workers turn messages into documents, writes those to DOC and to the
 * outputs and keeps a cursor per partition. Whichever process dies at whatever moment, each event is in DOC at least
 * once, and repetitions carry the marks by which the shards drop them.
 */

import { randomBytes } from "node:crypto";
import type { PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Plan } from "#hub/pipeline/program/plan.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { type Position, START } from "#proto/position.ts";
import { InputHost } from "./input-host.ts";
import { intakeShares } from "./intake-shares.ts";
import type { OutputReach } from "./output-host.ts";
import { changePartitions } from "./partition-change.ts";
import { type PipelineMetrics, PluginTotals, pipelineMetrics } from "./pipeline-metrics.ts";
import type { PipelineOptions } from "./pipeline-options.ts";
import type { DocLosses } from "./ports.ts";
import { Session, type WaitPolicy } from "./session.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** What is in flight at a stop gets this long: a hub has to end within a time as well. */
const AT_STOP = { stallMs: 5_000, totalMs: 5_000, writeMs: 3_000 };

/** Where another hub may have taken over. */
const AT_LOSS = { stallMs: 0, totalMs: 0, writeMs: 0 };

/** At a reload: a blocked output must not hold it up, a slow one needn't get events twice. */
const AT_RELOAD = { stallMs: 5_000, totalMs: 60_000, writeMs: 10_000 };

/** Where an output was waited for already: what else is in flight arrives at once. */
const AT_BLOCKED = { stallMs: 250, totalMs: 1_000, writeMs: 10_000 };

const BEGIN_RETRY = { firstMs: 100, capMs: 5_000 };

/** What exists when the threads are ready. */
interface Prepared {
  readonly session: Session;
  readonly plan: Plan | undefined;
}

export class Pipeline implements Component {
  readonly #options: PipelineOptions;
  readonly #clock: Clock;
  readonly #metrics: PipelineMetrics;
  readonly #inputs: InputHost;
  readonly #totals: PluginTotals;
  readonly #owner = randomBytes(12).toString("base64url");
  readonly #stopping = new AbortController();
  #definitions: readonly PipelineDefinition[];
  #session: Session | undefined;
  #prepared: Promise<Prepared> | undefined;
  /** Changes of the session, one after the other. */
  #changes: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;
  /** Partitions to process; undefined: all. */
  #partitions: ReadonlySet<number> | undefined;
  #plan: Plan | undefined;
  /** What keeps the session from being renewed; empty: nothing. */
  #problem = "";

  constructor(options: PipelineOptions) {
    const { metrics, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#definitions = options.settings.pipelines ?? [];
    if (options.sharing !== undefined) this.#partitions = new Set();
    const sum = (of: Parameters<Session["keeper"]["sum"]>[0]): number => this.#session?.keeper.sum(of) ?? 0;
    const shares = intakeShares(options.log, clock, new TrustedProxies(options.trustedProxies ?? []));
    this.#metrics = pipelineMetrics(metrics, {
      intake: shares,
      inFlightBytes: () => this.#session?.inFlight.bytes ?? 0,
      sources: () => sum((partition) => partition.sources),
      forgottenSources: () => sum((partition) => partition.forgottenSources),
      closedGaps: () => sum((partition) => partition.closedGaps),
    });
    this.#totals = new PluginTotals(this.#metrics);
    const { inputs: reach, log } = options;
    this.#inputs = new InputHost({ reach, log, clock, metrics: this.#metrics, shares });
  }

  /** Plans the pipelines and starts their threads. Throws what keeps them from working. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare();
    return this.#prepared.then(() => undefined);
  }

  /** Loads the cursors, starts the workers and begins to read. Throws what keeps any of it from working. */
  async start(): Promise<void> {
    this.#prepared ??= this.#prepare();
    const { session, plan } = await this.#prepared;
    this.#plan = plan;
    this.#session = session;
    if (this.#partitions?.size !== 0) await this.#change(() => session.begin(this.#partitions));
    await this.#inputs.apply(plan?.inputs ?? []);
  }

  /**
   * Processes these partitions and no others; resolves when the cursors of those given up are stored and the others are
   * read. Without `PipelineOptions.sharing` it may not be called.
   */
  assign(partitions: ReadonlySet<number>): Promise<void> {
    return this.#change(async () => {
      const session = this.#session;
      const mayKeep = session !== undefined && this.#mayKeep(session, partitions);
      if (mayKeep && (await this.#keep(session, partitions))) return;
      this.#partitions = partitions;
      if (session?.isFresh === true) await session.begin(partitions);
      else if (session === undefined || this.isStateful) await this.#renew(this.#definitions, this.#plan);
      else await this.#continue(session, mayKeep ? AT_BLOCKED : AT_RELOAD);
    });
  }

  /** Writes nothing any more, since another hub may have taken over; `assign` follows. */
  abandon(): void {
    this.#session?.abandon();
  }

  /** True where a filter keeps events of several messages: then one hub must process all partitions. */
  get isStateful(): boolean {
    return this.#plan?.stateful === true;
  }

  /** Takes nothing in, reads no further, gives what is in flight some seconds, stores the cursors, ends the workers. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /**
   * Continues with other pipelines, without losing or repeating an event. Throws settings_invalid if they can't be
   * used; then nothing changes.
   */
  reload(definitions: readonly PipelineDefinition[]): Promise<void> {
    return this.#change(async () => {
      const plan = await this.#makePlan(definitions);
      await this.#renew(definitions, plan);
      this.#plan = plan;
      await this.#inputs.apply(plan?.inputs ?? []);
    });
  }

  /**
   * Compares the cursors with what DOC has lost: called when it has lost something. Resolves when a session has begun that
   * did so, or the pipeline stops; until then `floor` is START.
   */
  resume(): Promise<void> {
    return this.#renewUntil(() => this.#session?.isFresh !== false || this.#isCompared);
  }

  /** The pipelines that run; empty: the default pipeline alone. */
  get definitions(): readonly PipelineDefinition[] {
    return this.#definitions;
  }

  /**
   * All partitions are processed at least up to here, durably: RAW needs nothing before it for the pipeline. START while
   * that isn't known: before the cursors are loaded, and while DOC has lost something that they weren't compared with.
   */
  get floor(): Position {
    return this.#isCompared ? this.#session!.keeper.floor : START;
  }

  /** Last message in DOC that something before `floor` led to, or that was written since. */
  get written(): Position {
    return this.#session?.keeper.docPosition ?? START;
  }

  /** What each plugin did, and what keeps inputs and outputs from working. */
  status() {
    return {
      plugins: this.#totals.all(),
      inputs: this.#inputs.status(),
      failures: this.#session?.outputs.failures() ?? [],
      problem: this.#problem || (this.#session?.problem ?? ""),
    };
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#changes;
    await this.#inputs.stop();
    if (this.#session !== undefined) return this.#session.end(AT_STOP);
    const prepared = await this.#prepared?.catch(() => undefined);
    await prepared?.session.discard();
  }

  async #prepare(): Promise<Prepared> {
    const plan = await this.#makePlan(this.#definitions);
    const session = this.#makeSession(this.#definitions, plan);
    await session.prepare();
    return { session, plan };
  }

  /** Does one change after the other; a failing one is its caller's. */
  #change(change: () => Promise<void>): Promise<void> {
    const done = this.#changes.then(() => {
      if (this.#stopping.signal.aborted) throw new AppError("closed", "the pipeline stops");
      return change();
    });
    this.#changes = done.catch(() => undefined);
    return done;
  }

  /** Renews the session until `isDone`, or the pipeline stops. */
  async #renewUntil(isDone: () => boolean, isCareful = false): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff(BEGIN_RETRY);
    while (!signal.aborted) {
      try {
        await this.#change(async () => {
          if (!isDone()) await this.#renew(this.#definitions, this.#plan, isCareful);
        });
        this.#problem = "";
        return;
      } catch (error) {
        if (signal.aborted) return;
        const { message } = toAppError(error);
        this.#problem = `the pipelines stand still: ${message}`;
        this.#options.log.error({ err: error }, "the pipelines can't be started anew; it is tried again");
        await this.#clock.sleep(backoff.next(), signal);
      }
    }
  }

  /** Ends the session and begins another. Throws what keeps new threads from starting; then the old one continues. */
  async #renew(
    definitions: readonly PipelineDefinition[],
    plan: Plan | undefined,
    isCareful = false,
  ): Promise<void> {
    const session = this.#makeSession(definitions, plan, isCareful);
    await session.prepare();
    const before = this.#session;
    await before?.end(this.#mayWrite() ? AT_RELOAD : AT_LOSS);
    this.#session = session;
    this.#definitions = definitions;
    await this.#begin(session);
  }

  #mayKeep(session: Session, partitions: ReadonlySet<number>): boolean {
    const hasStaying = !session.keeper.owned.isDisjointFrom(partitions);
    return hasStaying && session.isHealthy && this.#isCompared && !this.isStateful;
  }

  /** Lets a session continue with other partitions, see changePartitions. */
  async #keep(session: Session, partitions: ReadonlySet<number>): Promise<boolean> {
    try {
      return await changePartitions(session, partitions, this.#stopping.signal);
    } finally {
      this.#partitions = session.keeper.owned;
    }
  }

  /** Begins another session with the threads of the one before: starting threads would add to the pause of all partitions. */
  async #continue(before: Session, policy: WaitPolicy): Promise<void> {
    const pool = await before.handOver(this.#mayWrite() ? policy : AT_LOSS);
    const session = this.#makeSession(this.#definitions, this.#plan, false, pool);
    this.#session = session;
    await this.#begin(session);
  }

  /** Begins to read, as soon as the cursors can be read. */
  async #begin(session: Session): Promise<void> {
    const backoff = new Backoff(BEGIN_RETRY);
    while (!this.#stopping.signal.aborted) {
      try {
        await session.begin(this.#partitions);
        return;
      } catch (error) {
        this.#options.log.warn({ err: error }, "the cursors can't be read; it is tried again");
        await this.#clock.sleep(backoff.next(), this.#stopping.signal);
      }
    }
  }

  /** True where the session's cursors were compared with all that DOC has lost. */
  get #isCompared(): boolean {
    const { losses = NO_LOSSES } = this.#options;
    return this.#session !== undefined && this.#session.keeper.docIncarnation >= losses.incarnation;
  }

  #mayWrite(): boolean {
    return this.#options.sharing?.mayWrite() ?? true;
  }

  #makeSession(
    definitions: readonly PipelineDefinition[],
    plan: Plan | undefined,
    isCareful = false,
    pool?: WorkerPool,
  ): Session {
    const session: Session = new Session({
      pipeline: this.#options,
      definitions,
      plan,
      isCareful,
      pool,
      reach: {
        ...(this.#options.outputs ?? NO_REACH),
        feed: (address, records) => this.#inputs.feed(address, records),
      },
      metrics: this.#metrics,
      clock: this.#clock,
      owner: this.#owner,
      losses: this.#options.losses ?? NO_LOSSES,
      onStatistics: (statistics) => this.#totals.add(statistics),
      onBroken: () => {
        void this.#renewUntil(() => this.#session !== session, true);
      },
    });
    return session;
  }

  /** The language is loaded only where there is something to plan. */
  async #makePlan(definitions: readonly PipelineDefinition[]): Promise<Plan | undefined> {
    if (definitions.length === 0) return undefined;
    const { planPipelines } = await import("../program/plan.ts");
    const variables = (await this.#options.variables?.()) ?? { ...process.env };
    const plan = await planPipelines(definitions, variables, this.#options.signInPort);
    for (const { file, line, message, hint } of plan.warnings)
      this.#options.log.warn(
        { file, line, hint },
        `${file}:${line}: ${message}${hint === "" ? "" : `: ${hint}`}`,
      );
    return plan;
  }
}

const NO_LOSSES: DocLosses = { incarnation: 1, survives: () => true };

const NO_REACH: Omit<OutputReach, "feed"> = {
  folder: "out",
  folders: [],
  checkTarget: () => undefined,
  bearer: () => Promise.reject(new AppError("not_found", "there are no connections")),
};
