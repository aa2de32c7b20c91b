/** The agent: puts registry, output, inputs and status together. The only place that knows all of them. */

import { fstatSync } from "node:fs";
import { hostname } from "node:os";
import { sep } from "node:path";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { type Component, Lifecycle, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MemoryWatch } from "#proto/kit/memory-watch.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { StatusServer } from "#proto/kit/status-server.ts";
import { inboxPrefix } from "#proto/subjects.ts";
import type { AgentSettings } from "./config.ts";
import { systemTellsBirth } from "./harvester/identity.ts";
import type { InputContext } from "./inputs/input.ts";
import { inputMetrics } from "./inputs/metrics.ts";
import { Connection } from "./outputs/connection.ts";
import type { Output } from "./outputs/output.ts";
import { type AgentNames, PipelineOutput } from "./outputs/pipeline.ts";
import { SearchOutput } from "./outputs/search.ts";
import { Registry } from "./registry/registry.ts";
import { type NamedInput, Status } from "./status.ts";
import { VERSION } from "./version.ts";
import { WatermarkClient } from "./watermark.ts";

/** Inputs end their reads within this time; a read that hangs on a dead disk must not hold up the rest. */
const INPUT_STOP_MS = 2_000;

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
  #inputs: NamedInput[] = [];
  #statusServer: StatusServer | undefined;

  constructor(settings: AgentSettings, log: Logger, clock: Clock = systemClock) {
    this.#settings = settings;
    this.#log = log;
    this.#clock = clock;
    this.#lifecycle = new Lifecycle((name, error) => log.error({ error }, `${name} did not stop in order`));
  }

  /** Resolves when all inputs have come to an end of themselves, as standard input does. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Port of /health and /metrics; 0 where they are off. */
  get statusPort(): number {
    return this.#statusServer?.port ?? 0;
  }

  get agentId(): string {
    return this.#registry?.agentId ?? "";
  }

  /** Resolves when the inputs run; whether the hub is there doesn't matter. Throws what a person must mend. */
  async start(): Promise<void> {
    const { file, pathData } = this.#settings;
    const registry = new Registry({
      folder: pathData,
      agentId: file.id,
      log: this.#log,
      metrics: this.#metrics,
      clock: this.#clock,
    });
    this.#registry = registry;
    await this.#lifecycle.start("registry", registry);
    const watch = new MemoryWatch({ log: this.#log, metrics: this.#metrics, part: "agent" });
    await this.#lifecycle.start("memory", watch);
    const names: AgentNames = {
      agentId: registry.agentId,
      agentName: file.name,
      agentVersion: VERSION,
      hostName: hostname(),
    };
    const connection = await this.#startOutput(names, registry);
    const output = this.#output!;
    this.#inputs = this.#createInputs(registry, output);
    const status = new Status({
      names,
      inputs: this.#inputs,
      output,
      registry,
      connection,
      clock: this.#clock,
      metrics: this.#metrics,
    });
    if (file["status.enabled"]) {
      this.#statusServer = new StatusServer({
        host: file["status.host"],
        port: file["status.port"],
        setting: "status.port",
        health: () => status.health(),
        metrics: this.#metrics,
      });
      await this.#lifecycle.start("status server", this.#statusServer);
    }
    for (const { id, input } of this.#inputs) await this.#lifecycle.start(`input ${id}`, input);
    await this.#lifecycle.start("status", status);
    this.#log.info(
      { agentId: names.agentId, epoch: registry.epoch, inputs: this.#inputs.length },
      "agent started",
    );
  }

  /** Stops reading, waits for acknowledgements up to `shutdown_timeout`, and writes the registry. */
  async stop(): Promise<void> {
    const stops = this.#inputs.map(({ input }) => input.stop());
    await withDeadline(Promise.all(stops), INPUT_STOP_MS, "the end of the inputs").catch((error: unknown) =>
      this.#log.warn({ error }, "an input did not end in time"),
    );
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
    for (const { input } of this.#inputs) input.release?.();
    await this.#lifecycle.stop();
  }

  /** Starts the output; returns the connection to the hub where there is one. */
  async #startOutput(names: AgentNames, registry: Registry): Promise<Connection | undefined> {
    const { file, batchBytes, searchTimeoutMs } = this.#settings;
    const common = { names, batchBytes, clock: this.#clock, log: this.#log, metrics: this.#metrics };
    const held = this.#settings.inputs.reduce((sum, { plugin }) => sum + plugin.heldSlots, 0);
    const inFlight = file["output.pipeline.in_flight"] + held;
    if (this.#settings.output === "search") {
      const settings = {
        hosts: file["output.search.hosts"],
        index: file["output.search.index"],
        username: file["output.search.username"],
        password: file["output.search.password"],
        apiKey: file["output.search.api_key"],
        tlsCa: file["output.search.tls.ca"],
      };
      this.#output = new SearchOutput({ ...common, settings, inFlight, timeoutMs: searchTimeoutMs });
      await this.#lifecycle.start("output", this.#output);
      return undefined;
    }
    const connection = this.#createConnection(names);
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

  #createConnection({ agentId, agentName }: AgentNames): Connection {
    const { file } = this.#settings;
    const settings = {
      servers: file["output.pipeline.servers"],
      token: file["output.pipeline.token"],
      tokenFile: file["output.pipeline.token_file"],
      nkeySeedFile: file["output.pipeline.nkey_seed_file"],
      tlsCa: file["output.pipeline.tls.ca"],
      tlsCertificate: file["output.pipeline.tls.certificate"],
      tlsKey: file["output.pipeline.tls.key"],
      inboxPrefix: inboxPrefix(agentId),
    };
    return new Connection(settings, agentName, this.#log, this.#metrics, this.#clock);
  }

  #createInputs(registry: Registry, output: Output): NamedInput[] {
    const metrics = inputMetrics(this.#metrics);
    const isOwnFile = ownFiles(this.#settings.pathData);
    const tellsBirth = this.#tellsBirth();
    let running = this.#settings.inputs.length;
    return this.#settings.inputs.map(({ id, plugin, options, fieldsJson }) => {
      const context: InputContext = {
        id,
        fieldsJson,
        output,
        registry,
        metrics,
        clock: this.#clock,
        log: this.#log.child({ input: id }),
        lingerMs: this.#settings.lingerMs,
        batchBytes: this.#settings.batchBytes,
        dataFolder: this.#settings.pathData,
        isOwnFile,
        tellsBirth,
        onEnd: () => {
          if (--running === 0) this.#ended.resolve();
        },
      };
      return { id, type: plugin.type, input: plugin.create(options, context) };
    });
  }

  #tellsBirth(): boolean {
    try {
      const tells = systemTellsBirth(this.#settings.pathData);
      if (!tells)
        this.#log.info(
          "the system doesn't tell when files were made; only their content tells reused inodes",
        );
      return tells;
    } catch (error) {
      this.#log.warn(
        { error },
        "can't find out whether the system tells when files were made; taking it that it does",
      );
      return true;
    }
  }

  #rewind(): void {
    for (const { input } of this.#inputs) input.rewind?.();
  }
}

/** Returns what recognises the agent's own log (standard error into a file) and its data: reading them would never end. */
function ownFiles(pathData: string): InputContext["isOwnFile"] {
  const outputs = [1, 2].flatMap((fd) => {
    try {
      const stat = fstatSync(fd);
      return stat.isFile() ? [stat] : [];
    } catch {
      return [];
    }
  });
  return (file, path) =>
    path.startsWith(pathData + sep) || outputs.some(({ dev, ino }) => dev === file.dev && ino === file.ino);
}
