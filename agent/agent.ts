/** Composition root of the agent: creates registry, output, inputs and status, starts and stops them in order. */

import { hostname } from "node:os";
import { type InputContext, type InputMetrics, inputMetrics } from "#agent/contract/input.ts";
import type { Output } from "#agent/contract/output.ts";
import { type AgentSettings, connectionSettings } from "#agent/settings/config.ts";
import type { InputSettings } from "#agent/settings/input-settings.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { type Component, Lifecycle, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MemoryWatch } from "#proto/kit/memory-watch.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { StatusServer } from "#proto/kit/status-server.ts";
import { inboxPrefix } from "#proto/subjects.ts";
import { createDirectOutput, outputFileOf } from "./create-output.ts";
import { isNear } from "./harvester/descriptor-reader.ts";
import { ownFiles, probeBirthTimes } from "./machine.ts";
import { Connection } from "./outputs/connection.ts";
import { type AgentNames, PipelineOutput } from "./outputs/pipeline.ts";
import { Registry } from "./registry/registry.ts";
import { OrphanedSpools } from "./spool/orphaned-spools.ts";
import { type NamedInput, Status } from "./status.ts";
import { SupervisedInput } from "./supervised-input.ts";
import { SHIPPER_VERSION, VERSION } from "./version.ts";
import { WatermarkClient } from "./watermark.ts";

/** Inputs end their reads within this time; a read that hangs on a dead disk must not hold up the rest. */
const INPUT_STOP_MS = 2_000;
/**
 * Batches in flight of ending inputs may be acknowledged within this time; later ones are sent twice and dropped by the
 * hub.
 */
const RELOAD_DRAIN_MS = 1_000;

/** An input with the settings that it was made from. */
interface RunningInput extends NamedInput {
  readonly input: SupervisedInput;
  readonly made: string;
  readonly heldSlots: number;
}

export class Agent implements Component {
  readonly #settings: AgentSettings;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #metrics = new Metrics();
  readonly #lifecycle: Lifecycle;
  readonly #ended = Promise.withResolvers<void>();
  #registry: Registry | undefined;
  #output: Output | undefined;
  #watermark: WatermarkClient | undefined;
  readonly #inputMetrics: InputMetrics;
  readonly #isOwnFile: InputContext["isOwnFile"];
  readonly #endedInputs = new Set<string>();
  /** Never replaced: the status reads it. */
  readonly #inputs: RunningInput[] = [];
  /** Inputs that a reload ended with batches in flight; each such batch occupies a slot of the output. */
  #endedUnacknowledged: RunningInput[] = [];
  /** Slots of the output that inputs hold while they wait, at most so far. */
  #heldSlots = 0;
  #orphanedSpools: OrphanedSpools | undefined;
  #hasBirthTimes = true;
  #stopping = false;
  #statusServer: StatusServer | undefined;

  constructor(settings: AgentSettings, log: Logger, clock: Clock = systemClock) {
    this.#settings = settings;
    this.#log = log;
    this.#clock = clock;
    this.#inputMetrics = inputMetrics(this.#metrics);
    this.#isOwnFile = ownFiles(settings.pathData, outputFileOf(settings));
    this.#lifecycle = new Lifecycle((name, error) => log.error({ error }, `${name} did not stop in order`));
  }

  /** Resolves when all inputs have ended by themselves, as standard input does. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Port of /health and /metrics; 0 if they are off. */
  get statusPort(): number {
    return this.#statusServer?.port ?? 0;
  }

  get agentId(): string {
    return this.#registry?.agentId ?? "";
  }

  /** Resolves when the inputs run, whether the hub answers or not. Throws errors that need an operator. */
  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      await this.#lifecycle.stop();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { file, pathData } = this.#settings;
    const common = { log: this.#log, metrics: this.#metrics };
    const registry = new Registry({ ...common, folder: pathData, agentId: file.id, clock: this.#clock });
    this.#registry = registry;
    await this.#lifecycle.start("registry", registry);
    const watch = new MemoryWatch({ ...common, part: "agent" });
    await this.#lifecycle.start("memory", watch);
    const names: AgentNames = {
      agentId: registry.agentId,
      agentName: this.#settings.agentName,
      agentVersion: SHIPPER_VERSION,
      hostName: hostname(),
    };
    const connection = await this.#startOutput(names, registry);
    const output = this.#output!;
    void output.slots.memory.kernel; // throws where the machine can't run it
    this.#hasBirthTimes = probeBirthTimes(this.#settings.pathData, this.#log);
    this.#inputs.push(...this.#createInputs(this.#settings, registry, output));
    const status = new Status({
      names: { ...names, agentVersion: VERSION },
      inputs: this.#inputs,
      output,
      registry,
      connection,
      clock: this.#clock,
      metrics: this.#metrics,
      spoolProblem: () => this.#orphanedSpools?.problem ?? "",
    });
    await this.#startStatusServer(status);
    await this.#lifecycle.start("inputs", {
      start: () => this.#startInputs(output),
      stop: async () => void (await Promise.all(this.#stopInputs())),
    });
    await this.#lifecycle.start("status", status);
    this.#log.info(
      { agentId: names.agentId, epoch: registry.epoch, inputs: this.#inputs.length },
      "agent started",
    );
  }

  async #startStatusServer(status: Status): Promise<void> {
    const { file } = this.#settings;
    if (!file["status.enabled"]) return;
    this.#statusServer = new StatusServer({
      host: file["status.host"],
      port: file["status.port"],
      setting: "status.port",
      health: () => status.health(),
      metrics: this.#metrics,
    });
    await this.#lifecycle.start("status server", this.#statusServer);
  }

  /** Stops reading, waits for acknowledgements up to `shutdown_timeout`, and writes the registry. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#inTime(Promise.all(this.#stopInputs()));
    const output = this.#output;
    if (output !== undefined) {
      const { shutdownTimeoutMs } = this.#settings;
      await output.drained(AbortSignal.timeout(shutdownTimeoutMs));
      const open = output.slots.count - output.slots.available;
      if (open > 0)
        this.#log.info(
          { batches: open },
          "stopping with unacknowledged batches; their lines are sent again at the next start",
        );
    }
    for (const { input } of this.#endedUnacknowledged) input.preserve();
    for (const { input } of this.#inputs) {
      input.preserve();
      input.release();
    }
    await this.#lifecycle.stop();
  }

  /** Waits for the end of inputs, but not for one that hangs. */
  async #inTime(ended: Promise<unknown>): Promise<void> {
    await withDeadline(ended, INPUT_STOP_MS, "the end of the inputs").catch((error: unknown) =>
      this.#log.warn({ error }, "an input did not end in time"),
    );
  }

  async #startInputs(output: Output): Promise<void> {
    for (const { input } of this.#inputs) await input.start();
    this.#sendOrphanedSpools(output);
  }

  #stopInputs(): Promise<void>[] {
    const stopped = this.#inputs.map(({ input }) => input.stop());
    return this.#orphanedSpools === undefined ? stopped : [...stopped, this.#orphanedSpools.stop()];
  }

  #sendOrphanedSpools(output: Output): void {
    if (this.#stopping) return;
    this.#orphanedSpools = new OrphanedSpools({
      inputIds: this.#inputs.map(({ id }) => id),
      output,
      metrics: this.#inputMetrics,
      clock: this.#clock,
      log: this.#log,
      dataFolder: this.#settings.pathData,
    });
    this.#orphanedSpools.start();
  }

  /** Starts the output; returns the connection to the hub where there is one. */
  async #startOutput(names: AgentNames, registry: Registry): Promise<Connection | undefined> {
    const { file, batchBytes } = this.#settings;
    const common = { names, batchBytes, clock: this.#clock, log: this.#log, metrics: this.#metrics };
    this.#heldSlots = this.#settings.inputs.reduce((sum, { plugin }) => sum + plugin.heldSlots, 0);
    const inFlight = file["output.pipeline.in_flight"] + this.#heldSlots;
    const direct = createDirectOutput(this.#settings, { ...common, inFlight });
    if (direct !== null) {
      this.#output = direct;
      await this.#lifecycle.start("output", direct);
      return undefined;
    }
    const settings = { ...connectionSettings(file), inboxPrefix: inboxPrefix(names.agentId) };
    const connection = new Connection(settings, names.agentName, this.#log, this.#metrics, this.#clock);
    const output = new PipelineOutput(connection, {
      ...common,
      inFlight,
      compression: file["output.pipeline.compression"],
      ackTimeoutMs: this.#settings.ackTimeoutMs,
      epoch: registry.epoch,
      renewEpoch: () => registry.renewEpoch(),
      onAck: (ack) => this.#watermark?.acknowledged(ack),
      onRollback: (sequence, floor) => this.#watermark?.rolledBack(sequence, floor),
    });
    this.#output = output;
    this.#watermark = new WatermarkClient({
      names,
      connection,
      registry,
      rewind: () => this.#rewind(),
      forgetSequences: () => output.forgetSequences(),
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
    });
    await this.#lifecycle.start("output", output);
    await this.#lifecycle.start("connection", connection);
    await this.#lifecycle.start("watermark", this.#watermark);
    return connection;
  }

  #createInputs({ inputs }: AgentSettings, registry: Registry, output: Output): RunningInput[] {
    const ids = new Set(inputs.map(({ id }) => id));
    const isInput = (id: string): boolean => ids.has(id);
    return inputs.map((each) => this.#createInput(each, isInput, registry, output));
  }

  #createInput(
    { id, plugin, options, fieldsJson }: InputSettings,
    isInput: InputContext["isInput"],
    registry: Registry,
    output: Output,
  ): RunningInput {
    // Exported as 0 while nothing is lost: an alert can't detect the first event of a series that begins with it.
    this.#inputMetrics.lostBytes.inc({ input: id }, 0);
    const context: InputContext = {
      id,
      isInput,
      fieldsJson,
      output,
      registry,
      metrics: this.#inputMetrics,
      clock: this.#clock,
      log: this.#log.child({ input: id }),
      lingerMs: this.#settings.lingerMs,
      batchBytes: this.#settings.batchBytes,
      dataFolder: this.#settings.pathData,
      isOwnFile: this.#isOwnFile,
      hasBirthTimes: this.#hasBirthTimes,
      isNear,
      onEnd: () => {
        this.#endedInputs.add(id);
        if (this.#inputs.every((each) => this.#endedInputs.has(each.id))) this.#ended.resolve();
      },
    };
    const input = new SupervisedInput({
      id,
      create: () => plugin.create(options, context),
      clock: this.#clock,
      log: context.log,
    });
    const made = JSON.stringify([plugin.type, options, Buffer.from(fieldsJson).toString()]);
    return { id, type: plugin.type, input, made, heldSlots: plugin.heldSlots };
  }

  /**
   * Runs the inputs of `settings` instead: unchanged ones continue, others end and begin. Files keep their positions,
   * which are in the registry.
   */
  async reload(settings: AgentSettings): Promise<void> {
    const registry = this.#registry;
    const output = this.#output;
    if (registry === undefined || output === undefined || this.#stopping) return;
    const next = this.#createInputs(settings, registry, output);
    const isSame = (a: RunningInput, b: RunningInput): boolean => a.id === b.id && a.made === b.made;
    const ending = this.#inputs.filter((old) => !next.some((each) => isSame(old, each)));
    const beginning = next.filter((each) => !this.#inputs.some((old) => isSame(old, each)));
    await this.#inTime(
      Promise.all([this.#orphanedSpools?.stop(), ...ending.map(({ input }) => input.stop())]),
    );
    if (ending.length > 0) await output.drained(AbortSignal.timeout(RELOAD_DRAIN_MS));
    for (const { input } of ending) input.release();
    this.#endedUnacknowledged = [...this.#endedUnacknowledged, ...ending].filter(({ input }) =>
      input.hasUnacknowledged(),
    );
    this.#inputs.splice(0, this.#inputs.length, ...this.#inputs.filter((each) => !ending.includes(each)));
    const held = next.reduce((sum, { heldSlots }) => sum + heldSlots, 0);
    output.slots.extend(Math.max(0, held - this.#heldSlots));
    this.#heldSlots = Math.max(held, this.#heldSlots);
    for (const each of beginning) {
      await each.input.start();
      this.#inputs.push(each);
    }
    this.#sendOrphanedSpools(output);
  }

  #rewind(): void {
    for (const { input } of this.#inputs) input.rewind?.();
  }
}
