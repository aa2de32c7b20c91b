/** Composition root of the agent: creates registry, output, inputs and status, starts and stops them in order. */

import { hostname } from "node:os";
import { type InputMetrics, inputMetrics } from "#agent/contract/input.ts";
import type { Output } from "#agent/contract/output.ts";
import { type AgentSettings, connectionSettings } from "#agent/settings/config.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { StatusServer } from "#proto/kit/net/status-server.ts";
import { MemoryWatch } from "#proto/kit/process/memory-watch.ts";
import { inboxPrefix } from "#proto/subjects.ts";
import { AgentInputs, heldSlots } from "./agent-inputs.ts";
import { createDirectOutput } from "./create-output.ts";
import { Connection } from "./outputs/connection.ts";
import { type AgentNames, PipelineOutput } from "./outputs/pipeline.ts";
import { Registry } from "./registry/registry.ts";
import { Status } from "./status.ts";
import { SHIPPER_VERSION, VERSION } from "./version.ts";
import { WatermarkClient } from "./watermark.ts";

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
  #inputs: AgentInputs | undefined;
  #statusServer: StatusServer | undefined;

  constructor(settings: AgentSettings, log: Logger, clock: Clock = systemClock) {
    this.#settings = settings;
    this.#log = log;
    this.#clock = clock;
    this.#inputMetrics = inputMetrics(this.#metrics);
    this.#lifecycle = new Lifecycle((name, error) => log.error({ error }, `${name} did not stop in order`));
  }

  /** Resolves when all inputs have ended by themselves, as standard input does, or the reader of standard output is gone. */
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
    const inputs = new AgentInputs({
      settings: this.#settings,
      registry,
      output,
      metrics: this.#inputMetrics,
      clock: this.#clock,
      log: this.#log,
      onEnded: () => this.#ended.resolve(),
    });
    this.#inputs = inputs;
    const status = new Status({
      names: { ...names, agentVersion: VERSION },
      inputs: inputs.running,
      output,
      registry,
      connection,
      clock: this.#clock,
      metrics: this.#metrics,
      spoolProblem: () => inputs.spoolProblem,
    });
    await this.#startStatusServer(status);
    await this.#lifecycle.start("inputs", inputs);
    await this.#lifecycle.start("status", status);
    this.#log.info(
      { agentId: names.agentId, epoch: registry.epoch, inputs: inputs.running.length },
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
    await this.#inputs?.stopInTime();
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
    this.#inputs?.release();
    await this.#lifecycle.stop();
  }

  /** See AgentInputs.reload. */
  async reload(settings: AgentSettings): Promise<void> {
    await this.#inputs?.reload(settings);
  }

  /** Starts the output; returns the connection to the hub where there is one. */
  async #startOutput(names: AgentNames, registry: Registry): Promise<Connection | undefined> {
    const { file, batchBytes } = this.#settings;
    const common = { names, batchBytes, clock: this.#clock, log: this.#log, metrics: this.#metrics };
    const inFlight = file["output.pipeline.in_flight"] + heldSlots(this.#settings);
    const direct = createDirectOutput(this.#settings, { ...common, inFlight }, () => this.#ended.resolve());
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
      rewind: () => this.#inputs?.rewind(),
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
}
